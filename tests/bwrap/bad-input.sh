#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What is wrong is refused in bubblewrap's words, with 1, and the host is as
# before.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/bwrap.sh
. "$HB_TESTS/lib/bwrap.sh"

mkdir source
printf 123456789 >nine
host() {
	find "$work" -printf '%p %y %m %s %l\n' | sort
	wc -l </proc/self/mountinfo
}
before=$(host)

# wrong NAME WORDS ARGUMENTS...
wrong() {
	refuses "$@"
	after=$(host)
	[ "$after" = "$before" ] || fail "$1: the host is as before" "$after"
}

wrong 'an unknown option' 'Unknown option --no-such' --no-such true
wrong 'a short option' 'Unknown option -h' -h
wrong 'a dash alone' 'Unknown option -' - true
wrong 'a part of an option' 'Unknown option --unshare-p' --unshare-p true
wrong 'an option with its value' 'Unknown option --bind=/a' --bind=/a true
wrong 'a missing argument' '--chdir takes one argument' --chdir
wrong 'two missing arguments' '--setenv takes two arguments' --setenv A
wrong 'three' '--overlay takes three arguments' --overlay-src a --overlay b c
wrong 'no number' 'Invalid fd: x' --sync-fd x true
wrong 'a number and more' 'Invalid fd: 3x' --sync-fd 3x true
wrong 'a negative number' 'Invalid fd: -3' --sync-fd -3 true
wrong 'an empty number' 'Invalid uid: ' --unshare-user --uid '' true
wrong 'a number that is too large' 'Invalid gid: 99999999999999999999' \
	--unshare-user --gid 99999999999999999999 true
wrong 'no octal number' '--perms takes an octal argument <= 07777' \
	--perms 9 --dir /a true
wrong 'no size' '--size takes a non-zero number of bytes' \
	--size 1k --tmpfs /a true
wrong 'a modifier that is not taken' \
	'--perms must be followed by an option that creates a file' \
	--perms 0700 --bind / / true
wrong 'a size that is not taken' '--size must be followed by --tmpfs' \
	--size 4096 --perms 700 --dir /a true
wrong 'a modifier given twice' '--perms given twice for the same action' \
	--perms 700 --perms 700 --dir /a true
wrong 'two kinds of filters' \
	'--add-seccomp-fd cannot be combined with --seccomp' \
	--seccomp 9 --add-seccomp-fd 9 true

# shellcheck disable=SC2046 # many words
wrong '9001 arguments' 'Exceeded maximum number of arguments 9000' \
	$(yes true | head -n 9001)
# shellcheck disable=SC2046 # many words
check '9000 arguments pass' "$HB_BWRAP" --ro-bind / / \
	$(yes true | head -n 8997)
yes x | head -n 9000 | tr '\n' '\0' >words
before=$(host)
wrong '9001 arguments with those of a file' \
	'Exceeded maximum number of arguments 9000' --args 9 true 9<words

set -- --ro-bind / / --tmpfs /mnt
wrong 'a missing source' \
	"Can't find source path /no/such: No such file or directory" \
	"$@" --bind /no/such /mnt/a true
wrong 'a missing source, relative' \
	"Can't find source path no/such: No such file or directory" \
	"$@" --ro-bind no/such /mnt/a true
wrong 'an empty source' \
	"Can't find source path : No such file or directory" \
	"$@" --bind '' /mnt/a true
ln -s loop loop
before=$(host)
# The words for the error are those of the C library it was built with.
loop=$("$HB_BWRAP" "$@" --ro-bind loop /mnt/a true 2>&1 | sed 's/.*: //')
like 'the C library has words for a loop of links' "$loop" '*link*'
wrong 'a loop of links as a source' \
	"Can't find source path loop: $loop" \
	"$@" --ro-bind loop /mnt/a true
sees 'an empty destination is the root' '' --dir '' true
sees 'a relative destination is one from the root' made \
	--dir mnt/made ls /mnt
for option in '--dir' '--tmpfs' '--bind source' '--symlink t'; do
	# shellcheck disable=SC2086 # words
	like "a loop of links as a destination: $option" "$(
		"$HB_BWRAP" "$@" --symlink b /mnt/a --symlink a /mnt/b \
			$option /mnt/a/x true 2>&1
		echo "$?"
	)" "bwrap: *$loop
1"
done
wrong 'a destination that cannot be made' \
	"Can't mkdir /no-such: Read-only file system" \
	"$@" --dir /no-such true
wrong 'a directory over a file' \
	"Can't mkdir /etc/passwd: Not a directory" \
	"$@" --ro-bind /etc /etc/passwd true
wrong 'a file over a directory' \
	"Can't create file at /etc: Is a directory" \
	"$@" --ro-bind /etc/passwd /etc true
wrong 'a mode for nothing' \
	"Can't chmod 0700 /mnt/x: No such file or directory" \
	"$@" --chmod 700 /mnt/x true
wrong 'a directory to start in that is not there' \
	"Can't chdir to /no/such: No such file or directory" \
	"$@" --chdir /no/such true
wrong 'an empty one' "Can't chdir to : No such file or directory" \
	"$@" --chdir '' true

# Descriptor 99 is not open.  It is found out before anything is made, so that
# one complaint is enough, where bubblewrap has one for each and leaves a process
# behind for some.
for option in '--args 99' '--file 99 /mnt/x' '--bind-data 99 /mnt/x' \
	'--ro-bind-data 99 /mnt/x' '--bind-fd 99 /mnt/x' '--ro-bind-fd 99 /mnt/x' \
	'--seccomp 99' '--add-seccomp-fd 99' '--userns 99' '--userns2 99' \
	'--pidns 99' '--info-fd 99' '--json-status-fd 99' \
	'--unshare-user --info-fd 9 --userns-block-fd 99'; do
	# shellcheck disable=SC2086 # words
	like "not open: $option" \
		"$("$HB_BWRAP" "$@" $option true 2>&1 9>&1; echo "$?")" \
		'bwrap: *Bad file descriptor
1'
done
wrong 'a filter of nine bytes' 'Invalid seccomp data, must be multiple of 8' \
	"$@" --seccomp 9 true 9<nine

for words in '' '--' '--ro-bind / /'; do
	# shellcheck disable=SC2086 # words, or none
	like "no command: $words" "$("$HB_BWRAP" $words 2>&1; echo "$?")" 'usage: *
1'
done
wrong 'an empty command' 'execvp : No such file or directory' "$@" ''
wrong 'a command that is not there' \
	'execvp /no/such: No such file or directory' "$@" /no/such
wrong 'one that is not in PATH' \
	'execvp hb-no-such: No such file or directory' \
	"$@" --setenv PATH /usr/bin:/bin hb-no-such
wrong 'a file that is not executable' 'execvp /etc/passwd: Permission denied' \
	"$@" /etc/passwd
wrong 'a directory' 'execvp /etc: Permission denied' "$@" /etc
printf '\177ELF nonsense' >broken
printf 'exit 6' >script
chmod +x broken script
before=$(host)
check_exit 'a script without #! is one for sh' 6 "$HB_BWRAP" "$@" "$work/script"
chmod -x script
before=$(host)
wrong 'a script that is not executable' \
	"execvp $work/script: Permission denied" "$@" "$work/script"

is 'the host is as before' "$(host)" "$before"
done_testing
