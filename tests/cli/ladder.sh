#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3 unshare
#
# Hosts that lack something: something as safe instead, or less with a word
# about it, or nothing, with the cause and the fix.  The lack is made by a
# seccomp filter (tests/probe/deny.c) or by a namespace around it.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

export XDG_STATE_HOME="$work/state"
export HOME="$work/home"
mkdir home p
cd p || bail 'no workspace'
echo one >f

denying() {
	"$HB_PROBE" deny "$@"
}

# refused NAME WORDS RULES... -- COMMAND...: 125, [6], cause and fix, and the
# command, which would print "ran", does not.
refused() {
	refused_name=$1
	refused_words=$2
	shift 2
	says "$refused_name" 125 "holdback: [[]6]*${refused_words}*fix: *" \
		denying "$@"
}

no_userns='clone:0&0x10000000'
refused 'no user namespaces' '*refuses user namespaces' \
	"$no_userns" EPERM -- "$HB_BIN" run echo ran
refused 'the limit is 0' 'limit on user namespaces is reached' \
	"$no_userns" ENOSPC -- "$HB_BIN" run echo ran
refused 'nested too deeply' 'nested too deeply' \
	"$no_userns" EUSERS -- "$HB_BIN" run echo ran
refused 'no network namespace' 'no network namespace to be had' \
	'unshare:0&0x40000000' EPERM -- "$HB_BIN" run echo ran
like 'its fix is the network of the host' "$(denying 'unshare:0&0x40000000' \
	EPERM -- "$HB_BIN" run echo ran 2>&1)" '*fix: --net host*'
like 'an agent has no other network than asked for in its place' "$(denying 'clone:0&0x40000000' \
	EPERM -- "$HB_BIN" run --profile claude echo ran 2>&1)" '*[[]6]*no network namespace*fix: --net host*'
prints 'with which it runs' 'holdback: weakened: the network is the host'\''s
ran' denying 'unshare:0&0x40000000' EPERM -- "$HB_BIN" run --ephemeral --net host \
	echo ran
refused 'no pid namespace' 'no pid namespace to be had' \
	'clone:0&0x20000000' EINVAL -- "$HB_BIN" run echo ran
like 'a refusal of the maps, as by AppArmor' "$(unshare -Urm sh -c '
	mount --rbind /proc /proc && mount -o remount,bind,ro /proc || exit 99
	"$HB_BIN" run --ephemeral echo ran' 2>&1)" '*[[]6]*map*fix: *' 
for call in openat2 fsopen move_mount; do
	refused "no $call" '' "$call" ENOSYS -- \
		"$HB_BIN" run --ephemeral echo ran
done
refused 'no filters' 'cannot load the default filter' \
	'seccomp:0=1' EINVAL -- "$HB_BIN" run echo ran

# A limit of 0 that is real: in a user namespace of whom nobody may make more.
like 'I2 a limit of 0 around us' "$(unshare -Ur sh -c '
	echo 0 >/proc/sys/user/max_user_namespaces && "$HB_BIN" run echo ran' \
	2>&1)" '*[[]6]*user.max_user_namespaces is 0*fix: sysctl *'

# Without overlays a copy, which is as safe.
like 'no overlay: a copy, and a line' "$(denying 'fsopen:0~overlay' ENODEV -- \
	"$HB_BIN" -q -s copied sh -c 'cat f; echo two >f; pwd' 2>&1)" \
	"*no overlay for '$work/p', a copy instead: *
one
$work/p"
is 'whose changes are the same' "$("$HB_BIN" diff @copied --name-status)" \
	'M	f'
says '--require does not take it' 125 'holdback: [[]6]*no overlay for *' \
	denying 'fsopen:0~overlay' ENODEV -- "$HB_BIN" run -q --require echo ran
check 'it is thrown away' "$HB_BIN" rollback @copied -y
"$HB_BIN" cleanup -y @copied >/dev/null 2>&1

# Landlock is a second lock.
like 'no landlock: a line' "$(denying landlock_create_ruleset ENOSYS -- \
	"$HB_BIN" run --ephemeral -q echo ran 2>&1)" \
	'*weakened: this kernel has no landlock*ran'
says '--require does not take that either' 125 \
	'holdback: [[]6] --require: *fix: holdback doctor *' \
	denying landlock_create_ruleset ENOSYS -- \
	"$HB_BIN" run --ephemeral -q --require echo ran
prints 'where nothing is lacking --require runs' ran \
	"$HB_BIN" run --ephemeral -q --require echo ran
like 'landlock without scopes: a line' "$(denying \
	landlock_create_ruleset:2=1 =5 -- "$HB_BIN" run --ephemeral -q --net host \
	echo ran 2>&1)" '*weakened: *abstract sockets open*weakened: signals *ran'
like 'landlock without renames is none' "$(denying \
	landlock_create_ruleset:2=1 =1 -- "$HB_BIN" run --ephemeral -q echo ran \
	2>&1)" '*weakened: this kernel has no landlock*ran'
check 'no notifier: nothing needs it' denying 'seccomp:0=2' EINVAL -- \
	"$HB_BIN" run --ephemeral -q true

# A masked /proc, as in a container.
masked() {
	unshare -Urmpf --mount-proc sh -c '
		mount -t tmpfs none /proc/scsi 2>/dev/null ||
			mount -t tmpfs none /proc/fs || exit 99
		"$@"' sh "$@" 2>&1
}
like 'a masked /proc: the one around us, and a line' \
	"$(masked "$HB_BIN" run --ephemeral -q sh -c '
		test -r /proc/self/status && echo ran
		echo x 2>/dev/null >/proc/self/comm || echo read-only
		cat /proc/1/environ 2>/dev/null || echo closed')" \
	'*weakened: parts of /proc are masked here*ran
read-only
closed'
like 'kept runs do the same' "$(masked "$HB_BIN" run -q -s masked \
	sh -c 'echo two >f; cat f')" '*weakened: parts of /proc are masked*two*'
is 'a kept run with a masked /proc holds back' "$(cat f):$("$HB_BIN" diff @masked --name-status)" \
	'one:M	f'
like '--require: not in a masked /proc' \
	"$(masked "$HB_BIN" run --ephemeral -q --require echo ran)" \
	'*[[]6] stage mounts: *fix: *unmask*'

# /proc/sys that cannot be written.
like 'a read-only /proc/sys: the filter alone, and a line' "$(
	unshare -Urmpf --mount-proc sh -c '
		mount --bind /proc/sys /proc/sys &&
			mount -o remount,bind,ro /proc/sys || exit 99
		"$HB_BIN" run --ephemeral -q sh -c "
			unshare -U true 2>/dev/null || echo refused"' 2>&1
)" '*weakened: /proc/sys cannot be written here*refused'

# As in a rootless container: both, and the work directory of an overlay that
# was mounted once cannot be used again.
like 'both, in a kept run' "$(unshare -Urmpf --mount-proc sh -c '
	mount --bind /proc/sys /proc/sys &&
		mount -o remount,bind,ro /proc/sys &&
		mount -t tmpfs none /proc/fs || exit 99
	"$HB_BIN" run -q true || exit
	"$HB_BIN" run -q -s both sh -c "cat f; echo two >f; cat f"' 2>&1)" \
	'*weakened: parts of /proc*weakened: /proc/sys cannot *one
two*'
is 'a kept run with both weakenings holds back' "$(cat f):$("$HB_BIN" diff @both --name-status)" \
	'one:M	f'

# The whole root on an overlay, as in a container: its upper is no place for an
# overlay's own, and the state is kept elsewhere.
like 'overlayfs as the root of everything' "$(unshare -Urm sh -c '
	mkdir ../o && mount -t tmpfs none ../o && mkdir ../o/u ../o/w ../o/m &&
		mount -t overlay -o lowerdir=.,upperdir=../o/u,workdir=../o/w,userxattr none ../o/m ||
		exit 99
	cd ../o/m && mkdir .state && XDG_STATE_HOME=$PWD/.state &&
		export XDG_STATE_HOME && mkdir w && cd w && echo one >g
	"$HB_BIN" -q sh -c "cat g; echo two >g"
	cat g; "$HB_BIN" commit -y >/dev/null; cat g' 2>&1)" \
	'*a copy instead*one*one
two'
rmdir ../o
done_testing
