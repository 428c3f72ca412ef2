#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --bind --bind-try --ro-bind --ro-bind-try --dev-bind --dev-bind-try --bind-fd
# --ro-bind-fd --remount-ro, by mountinfo and by trying to write.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/bwrap.sh
. "$HB_TESTS/lib/bwrap.sh"

mkdir dir dir/sub
echo content >dir/file
echo alone >single

# options DIR ARGUMENTS...: how DIR is mounted inside.
options() {
	options_dir=$1
	shift
	box "$@" sh -c "$mount_options"'; mount_options "$0"' "$options_dir" 2>&1
}

# mounted NAME OPTIONS WORD...: each word is among the options, or not with !.
mounted() {
	mounted_name=$1
	mounted_options=$2
	shift 2
	for word in "$@"; do
		case $word in
		!*)
			check_fails "$mounted_name: not ${word#!} in $mounted_options" \
				has_option "$mounted_options" "${word#!}"
			;;
		*)
			check "$mounted_name: $word in $mounted_options" \
				has_option "$mounted_options" "$word"
			;;
		esac
	done
}

sees '--bind shows the directory' 'file sub' --bind dir /mnt/d \
	sh -c 'cd /mnt/d; echo *'
sees '--bind shows a file' alone --bind single /mnt/f cat /mnt/f
mounted --bind "$(options /mnt/d --bind dir /mnt/d)" rw nosuid nodev
sees '--bind lets writes through' '' --bind dir /mnt/d touch /mnt/d/new
check '--bind: the host has what was written' test -e dir/new
rm -f dir/new
sees '--bind of a source that goes up above the root' alone \
	--bind "/../../$PWD/dir/../single" /mnt/f cat /mnt/f
sees '--bind of a relative source' alone --bind single /mnt/f cat /mnt/f
sees '--bind to a relative destination' alone --bind single mnt/f cat /mnt/f
ln -s dir link
sees '--bind follows a link in the source' 'file sub' --bind link /mnt/d \
	sh -c 'cd /mnt/d; echo *'
rm link

sees '--ro-bind shows the directory' content --ro-bind dir /mnt/d \
	cat /mnt/d/file
mounted --ro-bind "$(options /mnt/d --ro-bind dir /mnt/d)" ro nosuid nodev
like '--ro-bind refuses writes' \
	"$(box --ro-bind dir /mnt/d touch /mnt/d/new 2>&1)" \
	'*Read-only file system*'
is '--ro-bind holds for what is mounted below' "$(
	"$HB_BWRAP" --ro-bind / / cat /proc/self/mountinfo |
		while read -r _ _ _ _ dir options _; do
			has_option "$options" ro && has_option "$options" nosuid &&
				has_option "$options" nodev ||
				echo "$dir $options"
		done
)" ''
check 'there is something below' \
	test "$("$HB_BWRAP" --ro-bind / / cat /proc/self/mountinfo | wc -l)" -gt 2

sees '--dev-bind shows the directory' content --dev-bind dir /mnt/d \
	cat /mnt/d/file
mounted --dev-bind "$(options /mnt/d --dev-bind dir /mnt/d)" rw nosuid '!nodev'
sees '--dev-bind: devices work' 4 --dev-bind /dev/zero /mnt/zero \
	sh -c 'head -c 4 /mnt/zero | wc -c'
like '--bind: devices do not' \
	"$(box --bind /dev/zero /mnt/zero head -c 4 /mnt/zero 2>&1)" \
	'*Permission denied*'

for option in bind ro-bind dev-bind; do
	refuses "--$option of nothing" \
		"Can't find source path /no/such: No such file or directory" \
		"--$option" /no/such /x true
	sees "--$option-try of nothing" '' "--$option-try" /no/such /mnt/d \
		ls /mnt
	sees "--$option-try of something" content "--$option-try" dir /mnt/d \
		cat /mnt/d/file
done
mounted --bind-try "$(options /mnt/d --bind-try dir /mnt/d)" rw nodev
mounted --ro-bind-try "$(options /mnt/d --ro-bind-try dir /mnt/d)" ro nodev
mounted --dev-bind-try "$(options /mnt/d --dev-bind-try dir /mnt/d)" \
	rw '!nodev'

sees '--bind-fd shows the directory' content --bind-fd 9 /mnt/d \
	cat /mnt/d/file 9<dir
sees '--bind-fd shows a file' alone --bind-fd 9 /mnt/f cat /mnt/f 9<single
mounted --bind-fd "$(options /mnt/d --bind-fd 9 /mnt/d 9<dir)" rw nosuid nodev
sees '--bind-fd lets writes through' '' --bind-fd 9 /mnt/d \
	touch /mnt/d/new 9<dir
check '--bind-fd: the host has what was written' test -e dir/new
rm -f dir/new
sees '--bind-fd closes its descriptor' gone --bind-fd 9 /mnt/d \
	sh -c 'test -e /proc/self/fd/9 || echo gone' 9<dir
sees '--ro-bind-fd shows the directory' content --ro-bind-fd 9 /mnt/d \
	cat /mnt/d/file 9<dir
mounted --ro-bind-fd "$(options /mnt/d --ro-bind-fd 9 /mnt/d 9<dir)" \
	ro nosuid nodev
like '--ro-bind-fd refuses writes' \
	"$(box --ro-bind-fd 9 /mnt/d touch /mnt/d/new 9<dir 2>&1)" \
	'*Read-only file system*'

set -- --tmpfs /mnt/a --tmpfs /mnt/a/b --remount-ro /mnt/a
mounted --remount-ro "$(options /mnt/a "$@")" ro
mounted '--remount-ro leaves what is below' "$(options /mnt/a/b "$@")" rw
like '--remount-ro refuses writes' "$(box "$@" touch /mnt/a/x 2>&1)" \
	'*Read-only file system*'
sees '--remount-ro: below it can be written' '' "$@" touch /mnt/a/b/x
sees '--remount-ro acts at its place in the list' 'x' --dir /mnt/x \
	--remount-ro /mnt ls /mnt

sees 'later mounts cover earlier ones' '' --bind dir /mnt/d \
	--tmpfs /mnt/d ls /mnt/d
sees 'earlier ones are covered' content --tmpfs /mnt/d --bind dir /mnt/d \
	cat /mnt/d/file

mkdir over
"$HB_BWRAP" --ro-bind / / --bind over /mnt --bind dir /mnt/p/q \
	--bind single /mnt/f true
is 'mount points are made where they are: on the host in a writable bind' \
	"$(cd over && stat -c '%n %F %a %s' f p p/q)" \
	'f regular empty file 444 0
p directory 755 4096
p/q directory 755 4096'
chmod -R u+w over
(
	umask 077
	"$HB_BWRAP" --ro-bind / / --bind over /mnt --bind dir /mnt/u/v true
)
is 'whatever the umask is' "$(stat -c %a over/u over/u/v | tr '\n' ' ')" \
	'755 755 '
is 'the umask itself is handed on' "$(umask 027 && box sh -c umask)" 0027
done_testing
