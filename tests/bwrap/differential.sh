#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: bwrap
# The same command lines with the host's bubblewrap and with ours: stdout, stderr
# and exit status are the same.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/bwrap.sh
. "$HB_TESTS/lib/bwrap.sh"

peer=$(command -v bwrap)
"$peer" --ro-bind / / true 2>err ||
	skip_all "the host's bwrap does not work: $(cat err)"

mkdir dir
echo content >file
echo content >dir/file

# outcome PROGRAM LINE: what a command line gives; $BWRAP in it is the program.
outcome() {
	rm -rf rw
	mkdir rw
	(
		# shellcheck disable=SC2034 # used by the line
		BWRAP=$1
		eval "$2"
		echo "status $?"
	) >out 2>&1 </dev/null
	cat out
	(cd rw && find . -printf '%p %y %s\n' | sort)
}

same() {
	is "$1" "$(outcome "$HB_BWRAP" "$1")" "$(outcome "$peer" "$1")"
}

while read -r line; do
	case $line in
	'' | '#'*) ;;
	*) same "$line" ;;
	esac
done <<'EOT'
# complaints
$BWRAP --no-such
$BWRAP -x
$BWRAP --bind /
$BWRAP --chdir
$BWRAP --sync-fd x true
$BWRAP --perms 8 --dir /x true
$BWRAP --perms 700 --bind / / true
$BWRAP --perms 700 --perms 700 --dir /x true
$BWRAP --size 0 --tmpfs /x true
$BWRAP --size 4096 --dir /x true
$BWRAP --disable-userns true
$BWRAP --userns-block-fd 3 true
$BWRAP --unshare-user --userns-block-fd 3 true
$BWRAP --as-pid-1 true
$BWRAP --hostname x true
$BWRAP --exec-label x true
$BWRAP --cap-add nonsense true
$BWRAP --seccomp 3 --add-seccomp-fd 4 true
$BWRAP --args 99 true
$BWRAP --setenv A=B c true
$BWRAP --ro-bind / / /no/such
$BWRAP --ro-bind / / /etc/passwd
$BWRAP --ro-bind / / ''
$BWRAP --ro-bind /no/such /x true
$BWRAP --ro-bind / / --dir /no-such true
$BWRAP --ro-bind / / --chdir /no/such true
$BWRAP --ro-bind / / --tmpfs /mnt --chmod 700 /mnt/x true
$BWRAP --ro-bind / / --lock-file /no/such true
$BWRAP true
# views
$BWRAP --ro-bind / / cat /proc/self/uid_map /proc/self/gid_map
$BWRAP --ro-bind / / --unshare-user --uid 5 --gid 6 id
$BWRAP --ro-bind / / grep -E '^(Cap|NoNewPrivs|Seccomp:|NSpid|Groups)' /proc/self/status | sed 's/NSpid.*//'
$BWRAP --ro-bind / / --unshare-user grep -E '^Cap' /proc/self/status
$BWRAP --ro-bind / / --unshare-user --cap-add ALL grep -E '^Cap' /proc/self/status
$BWRAP --ro-bind / / --unshare-user --uid 0 --cap-add CAP_NET_RAW grep -E '^Cap' /proc/self/status
$BWRAP --ro-bind / / --unshare-user --uid 0 --cap-drop ALL grep -E '^Cap' /proc/self/status
$BWRAP --ro-bind / / --cap-drop CAP_SYS_ADMIN grep -E '^Cap[^B]' /proc/self/status
$BWRAP --ro-bind / / --unshare-all --proc /proc sh -c 'cd /proc; echo [0-9]*'
$BWRAP --ro-bind / / --unshare-all --hostname inside uname -n
$BWRAP --ro-bind / / --dev /dev sh -c 'ls -ln /dev | sed 1d | awk "{print \$1,\$5,\$6,\$9,\$10,\$11}" | sed "s/ [0-9]*$//"' | grep -v -E ' (shm|pts) '
$BWRAP --ro-bind / / --dev /dev awk '$5 ~ "^/dev" {print $5, $6}' /proc/self/mountinfo | sort -u | sed s/,noexec// | grep -v -E '/dev/(shm|pts) rw,rel'
$BWRAP --ro-bind / / --unshare-pid --proc /proc awk '$5 ~ "^/proc" {print $5, $6}' /proc/self/mountinfo | sort -u
$BWRAP --bind dir /x --ro-bind file /y --dev-bind /dev/null /z --ro-bind / /h /h/usr/bin/true
$BWRAP --ro-bind / / --tmpfs /mnt --bind dir /mnt/a --ro-bind dir /mnt/b --dev-bind dir /mnt/c awk '$5 ~ "^/mnt" {print $5, $6}' /proc/self/mountinfo
$BWRAP --ro-bind / / --perms 1777 --size 1048576 --tmpfs /mnt stat -f -c '%T %b %S' /mnt
$BWRAP --ro-bind / / --perms 1777 --tmpfs /mnt stat -c '%a %u %g' /mnt
$BWRAP --ro-bind / / --tmpfs /mnt --dir /mnt/a/b/c --perms 750 --dir /mnt/d/e --file 9 /mnt/f --bind-data 8 /mnt/g --ro-bind-data 7 /mnt/h --symlink t /mnt/i find /mnt -printf '%p %y %m %s %U %G %l\n' 9<file 8<file 7<file
(umask 077; $BWRAP --ro-bind / / --tmpfs /mnt --dir /mnt/a --file 9 /mnt/f sh -c 'umask; stat -c %a /mnt/*' 9<file)
$BWRAP --ro-bind / / --bind rw /mnt --dir /mnt/a/b --file 9 /mnt/f --bind dir /mnt/m --bind file /mnt/n true 9<file
$BWRAP --ro-bind / / --tmpfs /mnt --bind dir mnt/a ls /mnt/a
$BWRAP --ro-bind / / --dir '' true
# environment and directory
$BWRAP --ro-bind / / --setenv A b --unsetenv HOME env | grep -v '^_=' | sort
$BWRAP --ro-bind / / --clearenv --setenv B 1 /usr/bin/env | sort
$BWRAP --ro-bind / / sh -c 'pwd -P; echo $PWD'
$BWRAP --ro-bind / / --chdir /usr/../etc sh -c 'pwd -P; printenv PWD'
$BWRAP --ro-bind / / --tmpfs "$work/.." --setenv HOME /usr sh -c 'pwd -P; echo $PWD'
(cd /usr/bin && $BWRAP --ro-bind / / --chdir /etc --chdir / pwd)
# ends
$BWRAP --ro-bind / / sh -c 'exit 42'
$BWRAP --ro-bind / / --unshare-pid sh -c 'exit 42'
$BWRAP --ro-bind / / sh -c 'kill -9 $$'
$BWRAP --ro-bind / / --unshare-pid sh -c 'kill -9 $$'
$BWRAP --ro-bind / / --unshare-pid --as-pid-1 sh -c 'echo $$; exit 3'
$BWRAP --ro-bind / / --unshare-all --json-status-fd 1 sh -c 'exit 3' | sed -E 's/: [0-9]{2,}/: N/g'
$BWRAP --ro-bind / / --unshare-all --info-fd 1 true | sed -E 's/: [0-9]{2,}/: N/g'
$BWRAP --ro-bind / / --json-status-fd 1 /no/such | sed -E 's/: [0-9]{2,}/: N/g'
$BWRAP --ro-bind / / --json-status-fd 1 sh -c 'kill -9 $$' | sed -E 's/: [0-9]{2,}/: N/g'
# descriptors
$BWRAP --ro-bind / / sh -c 'cd /proc/self/fd; for f in *; do test -e $f && echo $f; done' 9<file
$BWRAP --ro-bind / / --unshare-pid sh -c 'cd /proc/self/fd; for f in *; do test -e $f && echo $f; done' 9<file
$BWRAP --ro-bind / / --sync-fd 9 sh -c 'cd /proc/self/fd; for f in *; do test -e $f && echo $f; done' 9<file
$BWRAP --ro-bind / / --unshare-pid --as-pid-1 --sync-fd 9 sh -c 'cd /proc/self/fd; for f in *; do test -e $f && echo $f; done' 9<file
$BWRAP --ro-bind / / sh -c 'cd /proc/self/fd; for f in *; do test -e $f && echo $f; done' <&-
$BWRAP --args 9 echo ok 9<file
EOT
done_testing
