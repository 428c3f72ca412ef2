#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A conflict that --theirs accepted is a conflict again after undo.
. "$HB_TESTS/lib/txn.sh"

# again NAME SCRIPT-INSIDE SCRIPT-OUTSIDE PATH: both change something,
# --theirs PATH takes the session's, undo, and then commit has to ask again.
again() {
	again_name=$1
	again_inside=$2
	again_outside=$3
	again_path=$4
	new_session 'mkdir d e; echo f >f; echo a >d/a; echo b >d/b; echo e >e/e'
	in_box "$again_inside"
	(cd "$project" && eval "$again_outside")
	again_before=$(digest "$project")
	check_exit "$again_name: a conflict" 5 hb commit -y @s
	check "$again_name: --theirs accepts it" hb commit -y --theirs "$again_path" @s
	check "$again_name: it is undone" hb undo @s
	is "$again_name: the user's version is back" "$(digest "$project")" "$again_before"
	check_exit "$again_name: it is a conflict again" 5 hb commit -y @s
	is "$again_name: and nothing was replaced" "$(digest "$project")" "$again_before"
	like "$again_name: status says so" "$(hb status @s)" '* conflict*'
}

again 'an edited file' 'echo agent >f' 'echo user >f' f
check 'redo takes the session'"'"'s version' hb redo @s
is "redo brings the session's version" "$(cat "$project/f")" agent
check 'undo works after a redo with --theirs' hb undo @s
check_exit 'brings the conflict back' 5 hb commit -y @s
in_box 'echo again >f'
check_exit 'an edit of the session after the undo does not end it' 5 hb commit -y @s
in_box 'echo new >new'
check 'a commit of other paths' hb commit -y --only new @s
check_exit 'does not end it either' 5 hb commit -y @s
check 'a mark is made over it' hb mark @s one
check_exit 'a mark does not end the conflict' 5 hb commit -y @s
hb fork @s t >/dev/null
check_exit 'a fork has it too' 5 hb commit -y @t
check '--ours leaves the real version' hb commit -y --ours f @s
is 'as it is' "$(cat "$project/f")" user
check '--theirs ends it' hb commit -y --theirs f @s
is 'with the session'"'"'s version' "$(cat "$project/f")" again
in_box 'echo more >f'
check 'the edit after --theirs is no conflict' hb commit -y @s
check 'the last commit is undone' hb undo @s
check 'a commit with --theirs is undone' hb undo @s
check_exit 'after which it is a conflict' 5 hb commit -y @s
check 'a rollback ends it' hb rollback -y @s
in_box 'cat f >/dev/null; echo seen >f'
check 'because the session has seen the user'"'"'s version' hb commit -y @s

again 'a file that the user removed' 'echo agent >d/a' 'rm d/a' d/a
again 'a file in a directory that the session removed' 'rm -r d' 'echo user >d/a' d/a
check '--ours leaves all of the directory' hb commit -y --ours d @s
is 'as it is' "$(cat "$project/d/a" "$project/d/b")" "$(printf 'user\nb')"
again 'a file in a directory that the session made anew' \
	'rm -r d; mkdir d; echo agent >d/a' 'echo user >d/a' d/a
again 'a file in a directory that became a file' 'rm -r d; echo agent >d' 'echo user >d/a' d/a
again 'a mode' 'chmod 600 f' 'chmod 640 f' f
again 'the mode of a directory' 'chmod 750 d' 'chmod 700 d' d
again 'the mode of the project' 'chmod 750 .' 'chmod 711 .' .
again 'a file that both added' 'echo agent >n' 'echo user >n' n

# A directory that the user put in place: what is accepted of it says nothing of
# the rest.
new_session 'mkdir d o; echo a >d/a; echo b >d/b; echo x >o/a; echo y >o/b'
in_box 'echo agent >d/a; echo agent >d/b'
(cd "$project" && mv d was && mv o d)
check_exit 'another directory in the place: a conflict' 5 hb commit -y @s
check 'one file of it is accepted' hb commit -y --theirs d/a --ours d/b @s
check_exit 'the other one is still a conflict' 5 hb commit -y @s
is "a file of a conflicting directory keeps the user's version" "$(cat "$project/d/b")" y
check 'undo' hb undo @s
check_exit 'brings both back' 5 hb commit -y --theirs d/b @s
is 'as they were' "$(cat "$project/d/a" "$project/d/b")" "$(printf 'x\ny')"

# A rollback of a path, and then a commit of the same path; both are undone.
new_session 'echo base >f; echo base >g'
in_box 'echo first >f; echo first >g'
check 'a path is rolled back' hb rollback -y @s f
in_box 'echo second >f'
check 'the same path is committed' hb commit -y @s
check 'the commit after a rollback of its path is undone' hb undo @s
check 'the rollback before it is undone as well' hb undo @s
is 'the newest version of the path is pending' "$(hb exec @s -- cat f)" second
is 'the real file is the old one after both undos' "$(cat "$project/f")" base
check 'verify finds the session whole' hb verify @s
check 'the rollback is redone' hb redo @s
check 'the commit is redone' hb redo @s
is 'the real file is the committed one after both redos' "$(cat "$project/f" "$project/g")" 'second
first'

# A directory that a redo removes again: a file of the user stands against it.
new_session 'mkdir d e; echo a >d/a; echo e >e/e'
in_box 'rm -r d; echo file >d; mkdir new; echo n >new/n'
check 'a directory becomes a file' hb commit -y @s
check 'the directory returns' hb undo @s
echo mine >"$project/d/mine"
check_exit 'redo is refused: the user has put a file into the directory' 5 hb redo @s
is 'the file of the user is there after the refused redo' "$(cat "$project/d/mine" "$project/d/a")" 'mine
a'
rm "$project/d/mine"
check 'redo takes the directory without that file' hb redo @s
is 'the directory is a file again' "$(cat "$project/d" "$project/new/n")" 'file
n'
finish
