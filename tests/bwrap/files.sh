#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --dir --file --bind-data --ro-bind-data --symlink --chmod --tmpfs, with --perms
# and --size: what is made, and with which mode.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/bwrap.sh
. "$HB_TESTS/lib/bwrap.sh"

echo content >source
umask 077 # must not show in anything

# made NAME WANT ARGUMENTS...: type and mode of /mnt/x.
made() {
	made_name=$1
	made_want=$2
	shift 2
	sees "$made_name" "$made_want" "$@" stat -c '%F %a' /mnt/x
}

made '--dir' 'directory 755' --dir /mnt/x
made '--dir with --perms' 'directory 1750' --perms 1750 --dir /mnt/x
made '--dir leaves what is there' 'directory 700' \
	--perms 700 --dir /mnt/x --perms 711 --dir /mnt/x
made '--dir makes parents' 'directory 755' --dir /mnt/x/y/z
made 'parents of what others may not read' 'directory 700' \
	--perms 700 --dir /mnt/x/y/z
made 'parents of what the group may read' 'directory 750' \
	--perms 750 --dir /mnt/x/y/z
refuses '--dir over a file' \
	"Can't mkdir /mnt/x: Not a directory" \
	--ro-bind / / --tmpfs /mnt --symlink /dev/null /mnt/y \
	--ro-bind source /mnt/x --dir /mnt/x true

made '--file' 'regular file 666' --file 9 /mnt/x 9<source
sees '--file has the content' content --file 9 /mnt/x cat /mnt/x 9<source
made '--file with --perms' 'regular file 640' \
	--perms 0640 --file 9 /mnt/x 9<source
sees '--file closes its descriptor' gone --file 9 /mnt/x \
	sh -c 'test -e /proc/self/fd/9 || echo gone' 9<source
sees '--file can be written' 'content more' --file 9 /mnt/x \
	sh -c 'echo more >>/mnt/x; echo $(cat /mnt/x)' 9<source
head -c 300000 /dev/zero >big
sees '--file takes much' 300000 --file 9 /mnt/x stat -c %s /mnt/x 9<big
sees '--file takes a pipe' 300000 --file 9 /mnt/x stat -c %s /mnt/x 9<<EOT
$(head -c 299999 /dev/zero | tr '\0' x)
EOT

for option in bind-data ro-bind-data; do
	made "--$option" 'regular file 600' "--$option" 9 /mnt/x 9<source
	sees "--$option has the content" content "--$option" 9 /mnt/x \
		cat /mnt/x 9<source
	made "--$option with --perms" 'regular file 444' \
		--perms 444 "--$option" 9 /mnt/x 9<source
	sees "--$option leaves no other name" x "--$option" 9 /mnt/x \
		ls -A /mnt 9<source
	sees "--$option is a mount" yes "--$option" 9 /mnt/x \
		sh -c 'grep -q " /mnt/x " /proc/self/mountinfo && echo yes' 9<source
	sees "--$option closes its descriptor" gone "--$option" 9 /mnt/x \
		sh -c 'test -e /proc/self/fd/9 || echo gone' 9<source
done
sees '--bind-data can be written' 'new' --bind-data 9 /mnt/x \
	sh -c 'echo new >/mnt/x; cat /mnt/x' 9<source
like '--ro-bind-data cannot' "$(
	box --ro-bind-data 9 /mnt/x sh -c 'echo new >/mnt/x' 9<source 2>&1
)" '*Read-only file system*'

sees '--symlink' 'a target' --symlink 'a target' /mnt/x readlink /mnt/x
sees '--symlink makes parents' t --symlink t /mnt/y/z readlink /mnt/y/z
sees '--symlink that exists' t --symlink t /mnt/x --symlink t /mnt/x \
	readlink /mnt/x
check_fails '--symlink that is another one' \
	box --symlink t /mnt/x --symlink u /mnt/x true

made '--chmod' 'directory 1711' --dir /mnt/x --chmod 1711 /mnt/x
made '--chmod of a file' 'regular file 4' --file 9 /mnt/x --chmod 4 /mnt/x \
	9<source
refuses '--chmod of nothing' \
	"Can't chmod 0700 /mnt/x: No such file or directory" \
	--ro-bind / / --tmpfs /mnt --chmod 0700 /mnt/x true
is '--chmod: the host is as before' "$(stat -c %a source)" 644

made '--tmpfs' 'directory 755' --tmpfs /mnt/x
made '--tmpfs with --perms' 'directory 1777' --perms 01777 --tmpfs /mnt/x
sees '--tmpfs is a tmpfs' tmpfs --tmpfs /mnt/x stat -f -c %T /mnt/x
is '--tmpfs covers' "$("$HB_BWRAP" --ro-bind / / --tmpfs /usr/share \
	ls -A /usr/share 2>&1)" ''
sees '--tmpfs can be written' '' --tmpfs /mnt/x touch /mnt/x/y
size_of() {
	echo $(($(box "$@" stat -f -c '%b * %S' /mnt/x)))
}
is '--size' "$(size_of --size 1048576 --tmpfs /mnt/x)" 1048576
is '--size in hexadecimal' "$(size_of --size 0x200000 --tmpfs /mnt/x)" 2097152
is '--size and --perms' "$(size_of --perms 700 --size 1048576 --tmpfs /mnt/x)" \
	1048576
differs 'without --size' "$(size_of --tmpfs /mnt/x)" 1048576
sees '--size is a limit' 'full' --size 65536 --tmpfs /mnt/x sh -c \
	'head -c 70000 /dev/zero >/mnt/x/y 2>/mnt/err || echo full'
refuses '--perms for what takes none' \
	'--perms must be followed by an option that creates a file' \
	--perms 700 --symlink a /b true
refuses '--size for what takes none' '--size must be followed by --tmpfs' \
	--size 4096 --dir /x true
is 'the root itself can be written' \
	"$("$HB_BWRAP" --ro-bind /usr /usr --symlink usr/bin /bin \
		--symlink usr/lib /lib --symlink usr/lib64 /lib64 \
		sh -c 'echo x >/new && ls -d /new' 2>&1)" /new
sees 'the root is nosuid and nodev' 'nosuid nodev' --dir /mnt/x sh -c \
	"$mount_options"'; for o in nosuid nodev; do case ,$(mount_options /mnt), in
	*,$o,*) echo $o ;; esac; done | paste -sd " "'
done_testing
