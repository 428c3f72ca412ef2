#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every stage can fail.  Then nothing runs, the message names the cause, the
# exit status is 125, or 1 of the bwrap front end, and nothing is left.
. "$HB_TESTS/lib/box.sh"

# fails STAGE CALL ERRNO PATTERN
fails() {
	stopped "$1: $2 fails with $3" "stage $1: *$4" denying "$2" "$3" -- \
		"$HB_BIN" run --ephemeral -q -- echo ran
}

# The causes that look alike to the kernel's caller.
fails clone clone:0\&0x10000000 EPERM 'fix: *'
fails clone clone:0\&0x10000000 ENOSPC 'user namespaces*fix: *'
fails clone clone:0\&0x10000000 EUSERS 'nested too deeply*fix: *'
fails clone clone:0\&0x10000000 EINVAL 'no user namespaces*fix: *'
fails parent prctl:0=1 EINVAL 'cannot bind to the parent'
fails private mount_setattr EPERM 'cannot make the mounts private'
fails mounts fsopen ENODEV 'cannot '
fails mounts fsopen EPERM 'cannot '
fails mounts fsconfig EINVAL 'cannot '
fails mounts fsmount EPERM 'cannot '
fails mounts move_mount EPERM 'cannot '
fails mounts open_tree EPERM 'cannot '
fails netns ioctl:1=0x8914 EPERM 'loopback'
fails netns unshare ENOSPC 'there is no network namespace to be had*fix: --net host*'
fails root fchdir EACCES 'cannot enter the new root'
fails root pivot_root EPERM 'cannot leave the old root'
fails root umount2 EPERM 'cannot leave the old root'
fails bound prctl:0=24 EACCES 'cannot shrink the bounding set'
fails bound prctl:0=38 EINVAL 'cannot set no_new_privs'
fails init clone:0\&0x4000 EAGAIN 'cannot start the command'
fails limits prlimit64 EPERM 'cannot switch core files off'
fails limits keyctl ENOMEM 'cannot leave the keyring'
fails caps capset EPERM 'capabilities'
fails landlock landlock_add_rule EINVAL 'cannot allow'
fails landlock landlock_restrict_self EPERM 'cannot enter the landlock ruleset'
fails fds close_range EINVAL 'cannot close descriptors'
fails seccomp seccomp EINVAL 'cannot load the default filter'

# Without the process that makes the network namespace, init makes it.
for call in 'clone:0&0x400' setns; do
	says "netns: the command runs where $call fails" '1 lo' denying "$call" EPERM -- \
		"$HB_BIN" run --ephemeral -q -- sh -c 'n=$(tail -n +3 /proc/net/dev | wc -l)
			echo $n $(sed -n "3s/:.*//p" /proc/net/dev)'
done

# A bounding set that is not ours to shrink is let pass, and then found.
fails prove prctl:0=24 EPERM 'the bounding set is not empty'
# Keyrings may be missing: then there are none to hide.
says 'limits: without keyrings the command runs' ran \
	denying keyctl ENOSYS -- "$HB_BIN" run --ephemeral -q -- echo ran

check_exit 'exec: a command that is not there is 127' 127 inside ./nothing
: >text
chmod 755 text
check_exit 'exec: one that cannot be executed is 126' 126 inside ./
printf '#!/no/such/interpreter\n' >script
chmod 755 script
check_exit 'exec: an interpreter that is not there is 127' 127 inside ./script
check_exit 'cwd: a directory that is not in the view is 125' 125 \
	"$HB_BIN" run --ephemeral -q --chdir /nowhere -- echo ran

# The same of the other front end.
for rule in 'clone:0&0x10000000 EPERM' 'fsopen EPERM' 'move_mount EPERM' \
	'pivot_root EPERM' 'umount2 EPERM' 'capset EPERM' 'openat2 ENOSYS' \
	'open_tree ENOSYS' 'mount_setattr EPERM' 'prctl:0=38 EINVAL'; do
	status=0
	# shellcheck disable=SC2086 # two words
	got=$(denying $rule -- "$HB_BWRAP" --unshare-all --tmpfs / \
		--ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib \
		--symlink usr/lib64 /lib64 --ro-bind /etc /etc \
		echo ran 2>&1) || status=$?
	like "bwrap: $rule" "$status:$got" '1:bwrap: ?*'
	unlike "bwrap: $rule, and nothing ran" "$got" '*ran*'
done
done_testing
