#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Mode and attributes of the directory itself that a session is on.
. "$HB_TESTS/lib/txn.sh"

mode() {
	stat -c %a "$project"
}

# The attribute user.x of the directory, from inside.
set_x='python3 -c "import os; os.setxattr(\".\", \"user.x\", b\"1\")"'

new_session 'chmod 755 .; echo f >f'
is 'a new session has no changes' "$(names)" ''
in_box 'echo new >new; rm new; touch .'
is 'names that come and go in it are none' "$(names)" ''
in_box "chmod 711 .; $set_x"
is 'a mode and an attribute are one change' "$(names)" 'P ./,'
like 'status shows it' "$(hb status @s)" '*P ./*1 directory*'
like 'diff says what' "$(hb diff @s)" '*mode 0755 -> 0711*'
is 'the real one has not changed' "$(mode)" 755
before=$(digest "$project")
check 'commit' hb commit -y @s
is 'brings the mode' "$(mode)" 711
like 'a commit brings an attribute of the top' "$(digest "$project")" '*user.x*'
unlike 'a commit brings no attribute of the overlay to the top' "$(digest "$project")" '*overlay*'
is 'nothing is pending any more' "$(names)" ''
check 'undo' hb undo @s
is 'takes both back' "$(digest "$project")" "$before"
is 'an undone change of the top is pending' "$(names)" 'P ./,'
check 'redo' hb redo @s
is 'brings the mode again' "$(mode)" 711
is 'a redone change of the top is not pending' "$(names)" ''

chmod 750 "$project"
check_exit 'undo refuses where the user changed it since' 5 hb undo @s
chmod 711 "$project"
check 'undo works when the user has changed the top back' hb undo @s

chmod 750 "$project"
out=$(hb commit -y @s 2>&1)
is 'a mode that the user has changed as well is a conflict' "$?" 5
like 'with its path' "$out" '*conflict: ./: metadata changed*'
is 'a conflict at the top leaves the real mode' "$(mode)" 750
check '--except leaves it out' hb commit -y --except . @s
is 'it is still pending' "$(names)" 'P ./,'
check '--theirs takes it' hb commit -y --theirs . @s
is 'as it was inside' "$(mode)" 711
in_box 'chmod 700 .'
check 'the change of the top after --theirs is no conflict' hb commit -y @s
is 'the change of the top after --theirs arrives' "$(mode)" 700

new_session 'chmod 755 .; echo f >f'
chmod 700 "$project"
echo user >"$project/user"
in_box 'echo more >>f'
is 'what the user alone has changed is no change' "$(names)" 'M f,'
check 'a change of the top by the user alone is no conflict' hb commit -y @s
is 'a change of the top by the user alone stays' "$(mode)" 700

new_session 'chmod 755 .; echo f >f'
in_box 'chmod 711 .'
check 'rollback' hb rollback -y @s
is 'throws it away' "$(names)" ''
is 'inside too' "$(in_box 'stat -c %a .')" 755
check 'undo of that' hb undo @s
is 'brings it back' "$(names)" 'P ./,'

check 'a mark' hb mark @s one
in_box 'chmod 700 .; echo more >>f'
check 'of several layers' hb commit -y --only . @s
is 'the topmost decides' "$(mode)" 700
is 'a commit of the top alone leaves the file pending' "$(names)" 'M f,'
check 'a fork' hb fork @s t
is 'begins with it' "$(hb diff --name-status @t)" "$(printf 'M\tf')"
check 'undo of the commit' hb undo @s
is 'is as it was' "$(mode) $(names)" '755 P ./,M f,'

new_session 'chmod 755 .; echo f >f'
in_box 'chmod 0 .'
like 'one that nobody may open is a change' "$(names)" 'P ./,'
check 'that can be committed' hb commit -y @s
like 'a commit of a closed top leaves its owner the right to open it' "$(mode)" '[57]00'
check 'a commit of a closed top can be undone' hb undo @s
is 'wholly' "$(mode)" 755
finish
