#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where bubblewrap is unsafe and this is not: a link that somebody planted below
# a destination reaches nothing outside of the new root, and nothing that is
# mounted outside arrives inside.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/bwrap.sh
. "$HB_TESTS/lib/bwrap.sh"

mkdir victim victim/dir project
echo secret >victim/file
chmod 600 victim/file
echo data >data

victim() {
	find "$work/victim" -printf '%p %y %m %s %l\n' | sort
}
before=$(victim)

# What a hostile tree could hold: links to where bubblewrap keeps the old root
# during set-up, through magic links, and plainly up and out.
targets="
/oldroot$work/victim
/newroot/../oldroot$work/victim
/proc/self/root$work/victim
/proc/1/root$work/victim
/proc/$$/root$work/victim
/proc/$$/cwd/victim
/proc/self/cwd/victim
../../../../../../../..$work/victim
$work/victim"

# attempts LINK: every option that makes or opens its destination, below LINK.
attempts() {
	cat <<EOT
--dir $1/made
--dir $1/dir
--tmpfs $1/made
--tmpfs $1/dir
--ro-bind $work/data $1/made
--ro-bind $work/data $1/file
--ro-bind $work/project $1/made
--symlink target $1/made
--file 9 $1/made
--file 9 $1/file
--bind-data 9 $1/made
--bind-data 9 $1/file
--ro-bind-data 9 $1/file
--chmod 0777 $1/file
--chmod 0777 $1
--remount-ro $1/dir
--proc $1/made
--dev $1/made
--mqueue $1/made
--lock-file $1/file
--overlay-src $work/project --tmp-overlay $1/made
EOT
}

# First with nothing of the victim's directory in the view, then with the whole
# host in it: there the link is followed, inside, to what is read-only.
link=$work/project/.agent
for view in empty host; do
	case $view in
	empty) set -- --ro-bind /usr /usr --symlink usr/bin /bin \
		--symlink usr/lib /lib --symlink usr/lib64 /lib64 --proc /proc \
		--bind "$work/project" "$work/project" ;;
	host) set -- --ro-bind / / --bind "$work/project" "$work/project" ;;
	esac
	for target in $targets; do
		ln -s "$target" "$link"
		attempts "$link" >list
		while read -r attempt; do
			# shellcheck disable=SC2086 # words
			"$HB_BWRAP" "$@" $attempt true 9<data >out 2>&1 </dev/null
			after=$(victim)
			[ "$after" = "$before" ] && continue
			fail "$view: $attempt with a link to $target" "$after"
			rm -rf victim
			mkdir victim victim/dir
			echo secret >victim/file
			chmod 600 victim/file
		done <list
		is "$view: nothing got out through a link to $target" \
			"$(victim)" "$before"
		rm -rf project
		mkdir project
	done
done

# The link itself works where its target is inside.
ln -s sub project/link
mkdir project/sub
sees 'a link that stays inside is followed' 'made' \
	--bind "$work/project" /mnt --dir /mnt/link/made ls /mnt/sub
sees 'an absolute one is followed inside' 'made' --dir /mnt/there \
	--symlink /mnt/there /mnt/link --dir /mnt/link/made ls /mnt/there
sees '.. does not leave the root' 'here' --dir /mnt/../../../../mnt/here ls /mnt

is 'no mount inside has a peer or a master outside' "$(
	"$HB_BWRAP" --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp \
		grep -E ' (shared|master|propagate_from):' /proc/self/mountinfo 2>&1
)" ''
done_testing
