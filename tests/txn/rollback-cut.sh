#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: strace
#
# Where two directories cannot change places, a rollback that is killed between
# its two renames leaves a session without an upper.  The next command brings
# one back: the new one, or the old one.
. "$HB_TESTS/lib/txn.sh"

upper=$state/sessions/s/r0/upper

# cut: a rollback that dies so; RENAME_EXCHANGE is 2, the last argument's.
cut() {
	for number in 1 2 3 4 5 6 7 8; do
		new_session 'echo f >f'
		in_box 'echo more >>f; echo new >new'
		"$HB_PROBE" deny 'renameat2:4&2' EINVAL -- \
			strace -f -qq -o /dev/null -e trace=renameat2 \
			-e inject=renameat2:signal=KILL:when="$number" \
			"$HB_BIN" rollback --state-dir "$state" -y @s >/dev/null 2>&1
		[ -e "$upper" ] || return 0
	done
	bail 'no rollback could be cut between its renames'
}

for command in 'exec @s -- true' 'commit -y @s' 'rollback -y @s' 'recover @s' 'mark @s'; do
	cut
	# shellcheck disable=SC2086 # words
	check "${command%% *} finds the session" hb $command
	is 'nothing is pending any more' "$(names)" ''
	is 'the view is the real one after a cut rollback' "$(in_box 'cat f')" f
done

cut
check 'recover' hb recover @s
check 'undo works after recovery of a cut rollback' hb undo @s
is 'bring the changes back' "$(names)" 'M f,A new,'

cut
check 'recover --back' hb recover --back @s
is 'keeps them' "$(names)" 'M f,A new,'
is 'in the view as well' "$(in_box 'cat new')" new
is 'nothing has reached the real one' "$(ls "$project")" f
finish
