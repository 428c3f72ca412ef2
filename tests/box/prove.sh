#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# timeout: 120
# What was promised is proved before a command starts, also before one that joins
# a live box.  Each call that takes something away is made to lie: it does nothing
# and says that it did.
. "$HB_TESTS/lib/box.sh"

# lying CALL NAME PATTERN: to `holdback $how -- COMMAND`.
lying() {
	# shellcheck disable=SC2086 # words
	stopped "$how: $2" "$3" denying "$1" OK -- "$HB_BIN" $how -- echo ran
}
# What both are to notice.
lies() {
	# shellcheck disable=SC2086 # words
	says "$how: control: where nothing lies the command runs" ran \
		denying setsid OK -- "$HB_BIN" $how -- echo ran
	lying capset 'I8 capabilities that are left' 'capabilities are left'
	lying prctl:0=24 'I8 a bounding set that is left' 'the bounding set'
	lying seccomp 'I7 a filter that is not loaded' 'the filter is not in force'
	lying prctl:0=4 'V5 V6 memory that can be looked into' undumpable
	if [ "$(landlock_version)" -ge 6 ]; then
		lying landlock_restrict_self 'a ruleset that is not in force' \
			'ruleset is not in force'
	else
		skip "$how: a ruleset that is not in force" 'landlock has no scopes'
	fi
	exec 9</etc/passwd
	lying close_range 'V4 a descriptor that is not closed' 'descriptor ? is open'
	exec 9<&-
	# Without a capability a filter, this one too, cannot be had but with it.
	if [ "$HB_MODE" = root ]; then
		lying prctl:0=38 'V20 privileges that can be gained' '[6]'
	fi
}

how='run --ephemeral -q'
lies
lying pivot_root 'V4 a root that is not entered' 'the old root is still there'
lying umount2 'V4 an old root that is not left' 'the old root is still there'
lying mount_setattr 'F8 mounts that are not read-only' '[6]'

# Who joins; the box itself was lied to by nobody.
mkdir home p
(cd p && HOME=$work/home exec "$HB_BIN" create --state-dir "$work/state" s --cow .) >/dev/null
"$HB_BIN" keep --state-dir "$work/state" @s </dev/null >kept 2>&1 &
kept=$!
how="exec --state-dir $work/state @s"
wait_until sh -c "'$HB_BIN' status --state-dir '$work/state' @s | grep -q 'kept open'" ||
	bail "it is not live: $(cat kept)"
lies
lying setns:1=131072 'V4 a mount namespace that is not entered' \
	"'/' is not the root that was made for it"
says 'the box is none the worse' ran "$HB_BIN" exec --state-dir "$work/state" @s -- echo ran
check 'stop' "$HB_BIN" stop --state-dir "$work/state" @s
wait $kept

# The limit of user namespaces is one byte in a file.  run has a filter for the
# same, and bwrap only this.
status=0
got=$(timeout 10 "$HB_PROBE" deny write:2=1 OK -- "$HB_BWRAP" --unshare-user \
	--disable-userns --ro-bind / / echo ran 2>&1) || status=$?
like 'V12 a limit that is not written' "$status:$got" \
	'1:*max_user_namespaces*'
done_testing
