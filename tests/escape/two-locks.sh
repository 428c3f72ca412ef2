#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3 unshare
# What may not be written is refused twice, by mounts that are read-only and by
# landlock.  Each is taken away in turn: the other one still refuses.  An overlay
# without an upper would be a third: it is denied, so that directories are bound.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/box.sh

# What lies below a place that may be written has only the one lock, as landlock's
# rules add up on the way to the root.  So this is about a directory outside of
# all of them, which is had in a mount namespace.
if [ -z "${HB_APART-}" ]; then
	case $HB_MODE in
	root) exec env HB_APART=1 unshare -m sh "$0" ;;
	*) exec env HB_APART=1 unshare -Urm sh "$0" ;;
	esac
fi
. "$HB_TESTS/lib/box.sh"

mount -t tmpfs none /srv || bail 'no directory of its own'
elsewhere=/srv/d
package=/srv/package
# It comes along with the command.
mkdir -p "$package/bin" "$package/lib"
cp /bin/sh "$package/bin/command"

make_tree() {
	rm -rf "$elsewhere" "$package/lib/new"
	mkdir -p "$elsewhere/empty" "$elsewhere/full"
	for file in one two three four five six seven full/file; do
		echo original >"$elsewhere/$file"
	done
	: >"$package/lib/file"
}

# Changes what may only be read, in each way there is, and says what worked.
# The last is for somebody who may write in the directories of the system.
cat >writes <<'SH'
cd "$1" || exit
try() {
	"$@" 2>/dev/null && echo "$*"
}
try sh -c 'echo x >one'
try sh -c 'echo x >>one'
try truncate -s 0 two
try cp /dev/null three
try sh -c ': >new'
try mkdir dir
try mkfifo fifo
try ln -s one soft
try ln one hard
try python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
try rm -f four
try mv five moved
try mv six /tmp/six
try mv /dev/shm/mine seven
try rmdir empty
try rm -r full
try sh -c 'echo x >>"$0/lib/file"' "$2"
try sh -c ': >"$0/lib/new"' "$2"
try sh -c ': >>/usr/lib/os-release'
:
SH
none='setsid EPERM'
no_locks='landlock_create_ruleset ENOSYS'
# All binds are made read-only by this one call: it says that it did, and did not.
# That of the new root has other flags, and is proved before the command starts.
writable='mount_setattr:2=0x9000 OK'

# written RULES...: what could be written.
written() {
	make_tree
	denying fsconfig:1=5 EOPNOTSUPP fsconfig:2~lowerdir EINVAL "$@" -- \
		"$HB_BIN" run --ephemeral -q --ro "$elsewhere" \
		-- "$package/bin/command" -c ': >/dev/shm/mine; . "$0"' \
		"$work/writes" "$elsewhere" "$package" 2>/dev/null
}

# shellcheck disable=SC2086 # two words each
{
	is 'F8 nothing that may only be read can be written' "$(written $none)" ''
	is 'F8 without landlock the mounts refuse' "$(written $no_locks)" ''
	if [ "$(landlock_version)" -ge 3 ]; then
		is 'F8 where all mounts can be written landlock refuses' \
			"$(written $writable)" ''
	else
		skip 'F8 where all mounts can be written landlock refuses' \
			'landlock cannot refuse to truncate'
	fi
	both=$(written $writable $no_locks)
}
is 'control: without either everything can be written' \
	"$(echo "$both" | grep -vc os-release)" 18
if [ "$HB_MODE" = root ]; then
	like "control: as root also the system's files" "$both" '*os-release*'
fi
done_testing
