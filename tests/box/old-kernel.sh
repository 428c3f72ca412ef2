#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# Older kernels, had by denying what they lack.
. "$HB_TESTS/lib/box.sh"

mkdir low high upper scratch ws
echo low >low/both
echo low >low/low
echo high >high/both
echo original >ws/file
cp probe ws

# overlay_works NAME RULES... --: in both front ends.
overlay_works() {
	works=$1
	shift
	says "$works: run" 'original changed' denying "$@" \
		sh -c 'cd ws && "$HB_BIN" run --ephemeral -q -- \
			sh -c "a=\$(cat file); echo changed >file
				echo \$a \$(cat file)" 2>/dev/null'
	is "$works: run leaves the file alone" "$(cat ws/file)" original
	says "$works: bwrap --tmp-overlay" 'high low new' denying "$@" \
		"$HB_BWRAP" --ro-bind / / --tmpfs /mnt --overlay-src low \
		--overlay-src high --tmp-overlay /mnt/o sh -c \
		'cd /mnt/o && echo new >new && echo $(cat both low new)'
	says "$works: bwrap --overlay" 'high low' denying "$@" \
		"$HB_BWRAP" --ro-bind / / --tmpfs /mnt --overlay-src low \
		--overlay-src high --overlay upper scratch /mnt/o sh -c \
		'cd /mnt/o && echo $(cat both low) && echo new >both'
	is "$works: bwrap --overlay writes its upper" "$(cat upper/both)" new
	is "$works: and not its layers" "$(cat high/both)" high
	rm -f upper/both
	says "$works: bwrap --ro-overlay" 'high low' denying "$@" \
		"$HB_BWRAP" --ro-bind / / --tmpfs /mnt --overlay-src low \
		--overlay-src high --ro-overlay /mnt/o sh -c \
		'cd /mnt/o && echo $(cat both low)'
}
overlay_works 'as it is' setsid EPERM --
# Without mount(2), or the oldest way would hide that this one is missing.
overlay_works 'before 6.13, layers by name' fsconfig:1=5 EINVAL mount EPERM --
overlay_works 'before 6.8, layers in one option' 'fsconfig:2~lowerdir+' EINVAL \
	mount EPERM --
# Such a kernel takes any option, and refuses at the end.
overlay_works 'before 6.5, layers in one option' fsconfig:1=5 EOPNOTSUPP \
	'fsconfig:2~lowerdir+' OK mount EPERM --
overlay_works 'with mount(2) alone' fsconfig:1=5 EOPNOTSUPP \
	fsconfig:2~lowerdir EINVAL --
unlike 'before 6.5 the shown directories are overlays as well' \
	"$(denying fsconfig:1=5 EOPNOTSUPP 'fsconfig:2~lowerdir+' OK -- \
		"$HB_BIN" run --ephemeral -q --ro low -- cat low/both 2>&1)" \
	'*no overlay of the shown directories*'
like 'with mount(2) alone shown directories are bound, which is said' \
	"$(denying fsconfig:1=5 EOPNOTSUPP fsconfig:2~lowerdir EINVAL -- \
		"$HB_BIN" run --ephemeral -q --ro low -- cat low/both 2>&1)" \
	'*weakened: no overlay of the shown directories is possible: sockets *low'

# Names that would need quoting in that string.
odd='a:b,c\d e'
mkdir "$odd" && echo odd >"$odd/file"
for rules in 'fsconfig:1=5 EINVAL' 'fsconfig:2~lowerdir+ EINVAL'; do
	# shellcheck disable=SC2086 # two words
	says "a layer with an odd name: $rules" odd denying $rules -- \
		"$HB_BWRAP" --ro-bind / / --tmpfs /mnt --overlay-src low \
		--overlay-src "$odd" --ro-overlay /mnt/o cat /mnt/o/file
done

# What there is no second way for.
for call in openat2 fsopen open_tree move_mount mount_setattr close_range; do
	stopped "no $call: refused, with the number of a host that lacks it" \
		'holdback: [[]6]' denying "$call" ENOSYS -- \
		"$HB_BIN" run --ephemeral -q -- echo ran
done

# Without landlock the mounts hold, and the user is told.
mkdir ro
echo original >ro/file
got=$(denying landlock_create_ruleset ENOSYS -- "$HB_BIN" run --ephemeral -q \
	--ro "$work/ro" --chdir "$work/ws" -- "$work/ws/../probe" \
	open w "$work/ro/file" 2>&1)
like 'F8 without landlock a read-only directory is read-only' "$got" \
	'*no landlock*EROFS'
like 'V7 an old kernel is said to let signals for the group out' "$got" \
	'*weakened: signals that the command sends to its group reach*'
says 'without landlock everything else works' 'changed' sh -c '
	cd ws && "$HB_PROBE" deny landlock_create_ruleset ENOSYS -- \
		"$HB_BIN" run --ephemeral -q -- \
		sh -c "echo changed >file && cat file" 2>/dev/null'
done_testing
