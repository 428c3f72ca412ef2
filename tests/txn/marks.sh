#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Marks: names for states of a session that can be gone back to.  (Q14)
. "$HB_TESTS/lib/txn.sh"

# upper: what the session's only resource has above its layers.
upper() {
	echo "$state/sessions/s/r0/upper"
}

new_session 'echo one >f; echo two >g; mkdir d; echo x >d/x; echo k >keep'
before=$(digest "$project")
in_box 'echo two >f; echo n >n; rm g'
inode=$(stat -c %i "$(upper)/n")
is 'mark says its name' "$(hb mark @s first)" 'marked session s as first'
is 'nothing was copied' "$(find "$state/layers" -name n -printf %i)" "$inode"
is 'the upper is empty' "$(ls -A "$(upper)")" ''
is 'all is pending as before' "$(names)" 'M f,D g,A n,'
is 'the view is the same after a mark' "$(in_box 'cat f n; ls -d g 2>/dev/null')" "$(printf 'two\nn')"
in_box 'echo three >f; mkdir e; echo y >e/y; rm d/x n; echo g2 >g'
is 'a mark without a name gets one' "$(hb mark @s)" 'marked session s as m1'
in_box 'echo four >f; rm -r d; mkdir d; echo z >d/z; chmod 700 e'
is 'layers add up' "$(names)" 'D d/x,A d/z,A e/,A e/y,M f,M g,'
is 'the real tree has not noticed' "$(digest "$project")" "$before"
is 'status names the marks' "$(hb status @s | sed -n 2p)" 'marks: first, m1'
is 'the document of status names the marks' "$(hb status --json @s | python3 -c \
	'import json, sys; print([m["name"] for m in json.load(sys.stdin)["marks"]])')" \
	"['first', 'm1']"
check_exit 'a name is given once' 10 hb mark @s first
check_exit 'a mark needs a valid name' 2 hb mark @s a/b
like 'of a mark' "$(hb mark @s a/b 2>&1)" "holdback: the mark name 'a/b' has a slash in it*"
check_exit 'there is no such mark' 2 hb rollback -y --to frist @s

view=$(in_box 'find . -printf "%P %y %m %s\n" | LC_ALL=C sort; cat f g d/z e/y')
check 'rollback to a mark' hb rollback -y --to first @s
is 'gives its state' "$(names)" 'M f,D g,A n,'
is 'in the view as well' "$(in_box 'cat f n d/x')" "$(printf 'two\nn\nx')"
is 'later marks are gone' "$(hb status @s | sed -n 2p)" 'marks: first'
check 'undo' hb undo @s
is 'brings everything back' \
	"$(in_box 'find . -printf "%P %y %m %s\n" | LC_ALL=C sort; cat f g d/z e/y')" "$view"
is 'undo of a rollback brings the marks back' "$(hb status @s | sed -n 2p)" 'marks: first, m1'
check 'redo' hb redo @s
is 'takes it away again' "$(names)" 'M f,D g,A n,'
check 'undo' hb undo @s
is 'undo of a second rollback brings the changes back' "$(names)" 'D d/x,A d/z,A e/,A e/y,M f,M g,'
check_exit 'a path that is in a mark stays there' 10 hb rollback -y @s e/y
is 'a refused rollback of a marked path changes nothing' "$(names)" 'D d/x,A d/z,A e/,A e/y,M f,M g,'

# A conflict refuses, and leaves the marks.
echo mine >"$project/g"
check_exit 'a conflict' 5 hb commit -y @s
is 'the marks are still there' "$(hb status @s | sed -n 2p)" 'marks: first, m1'
is 'as is what the user wrote' "$(cat "$project/g")" mine

# In part: what remains is a layer of its own.
check 'commit in part' hb commit -y --only f --only 'e' @s
is 'what was asked for is there' "$(cat "$project/f" "$project/e/y")" \
	"$(printf 'four\ny')"
is 'the rest is pending' "$(names)" 'D d/x,A d/z,M g,'
is 'the view has not changed' \
	"$(in_box 'find . -printf "%P %y %m %s\n" | LC_ALL=C sort; cat f g d/z e/y')" "$view"
unlike 'the marks have ended' "$(hb status @s)" '*mark*'
echo edited >"$project/f"
is 'what was committed is not held any more' "$(in_box 'cat f')" edited
echo four >"$project/f"
check_exit 'what was edited is not undone' 5 hb undo @s
check 'the rest' hb commit -y --theirs g @s
is 'is there' "$(cat "$project/g" "$project/d/z")" "$(printf 'g2\nz')"
is 'nothing is left' "$(names)" ''
check 'undo of the rest' hb undo @s
is 'makes it pending' "$(names --except g)" 'D d/x,A d/z,'
check 'redo' hb redo @s

# Marks and undo of a whole commit.
new_session 'echo one >f; mkdir d; echo x >d/x; ln -s f t'
before=$(digest "$project")
in_box 'echo two >f; ln f l; mkfifo p; rm p; echo 1 >d/1; ln d/1 d/2; rm t; mkdir t; echo t >t/t'
hb mark @s a >/dev/null
in_box 'echo more >>f; ln -s f s; touch -d @1 d/x; chmod 600 d/x'
check 'commit' hb commit -y @s
after=$(digest "$project")
is 'all of both' "$(cd "$project" && cat f s; stat -c %a d/x)" \
	"$(printf 'two\nmore\ntwo\nmore\n600')"
is 'links are what they were, and nothing is left' "$(names)" ''
in_box 'echo later >g'
hb mark @s b >/dev/null
check 'undo brings a commit of layers back below later ones' hb undo @s
is 'every attribute is as before' "$(digest "$project")" "$before"
is 'all is pending' "$(names)" 'A d/1,A d/2,P d/x,M f,A g,A l,A s,T t/,A t/t,'
unlike 'undo of a commit over marks makes no conflict' "$(hb status @s)" '*conflict*'
is 'all marks are there' "$(hb status @s | sed -n 2p)" 'marks: a, b'
check 'redo' hb redo @s
is 'redo restores every attribute over marks' "$(digest "$project")" "$after"
is 'the later mark stays' "$(names)" 'A g,'

# What was written after an undo is newer than what redo commits.
new_session 'echo 1 >b; echo 2 >c; echo 3 >k'
in_box 'echo new >b; echo new >c; echo n >n'
hb mark @s m >/dev/null
hb commit -y @s >/dev/null && hb undo @s >/dev/null || bail 'commit and undo'
in_box 'echo newer >b; rm n; chmod 600 c; chmod 700 .'
check 'redo below newer changes' hb redo @s
is 'leaves them pending' "$(names)" 'P ./,M b,P c,D n,'
check 'for a commit' hb commit -y @s
is 'that has them' "$(cd "$project" && cat b && stat -c %a c . && ls)" \
	"$(printf 'newer\n600\n700\nb\nc\nk')"

# What is new in a layer was never in the base, and what is not was.
new_session 'echo 1 >b; mkdir d; echo 1 >d/c; echo 1 >e'
in_box 'echo new >n; mkdir m; echo new >d/n; echo 2 >b; rm e'
hb mark @s m >/dev/null
in_box 'echo more >>n; echo more >>d/n; chmod 700 m; echo 3 >b; echo again >e'
touch "$project/user" "$project/d/user"
is 'new in a mark, changed above it' "$(hb status @s | grep -c conflict)" 0
rm "$project/b"
is 'what was removed is told' "$(hb status @s | grep -B1 'conflict: removed' | head -n 1)" '  A b'
check 'the rest can be committed' hb commit -y --except b @s

# Redo of what a mark has frozen meanwhile is refused, and harms nothing.
new_session 'echo 1 >b'
in_box 'mkdir e; echo z >y; rm b'
check 'rollback of paths' hb rollback -y @s e b
check 'undo' hb undo @s
hb mark @s m >/dev/null
check_exit 'redo after a mark' 5 hb redo @s
is 'the session is as it was' "$(names)" 'D b,A e/,A y,'
check 'a session whose redo was refused can be committed' hb commit -y @s

# Without layers a commit moves: its undo would lie above a later mark.
new_session 'echo one >f'
in_box 'echo two >f'
check 'commit without a mark' hb commit -y @s
in_box 'echo three >f'
hb mark @s c >/dev/null
check_exit 'its undo is refused' 10 hb undo @s
is 'a refused undo loses nothing' "$(in_box 'cat f')" three
check 'commit' hb commit -y @s
check 'undo' hb undo @s
check 'rollback' hb rollback -y @s
is 'the base is that of the first commit' "$(cat "$project/f")" two

# A mark that follows a commit which was undone stands in the way of nothing.
new_session 'echo one >f'
in_box 'echo a >a'
hb mark @s a >/dev/null
in_box 'echo b >b'
hb commit -y @s >/dev/null
in_box 'echo c >c'
hb mark @s m >/dev/null
hb undo @s >/dev/null || bail 'undo'
in_box 'echo d >d'
check 'rollback to a mark after an undone commit' hb rollback -y --to m @s
is 'gives its state' "$(names)" 'A a,A b,A c,'
check 'undo of that' hb undo @s
is 'brings everything back' "$(names)" 'A a,A b,A c,A d,'
is 'undo of a rollback to a mark brings the marks back' "$(hb status @s | sed -n 2p)" 'marks: a, m'

# What is frozen is copied by a commit: holes stay holes.
new_session 'echo one >f'
in_box 'truncate -s 8M hole; echo end >>hole'
hb mark @s sparse >/dev/null
check 'commit of a file with holes' hb commit -y @s
is 'a commit over a mark keeps the holes of a file' "$([ "$(stat -c %b "$project/hole")" -lt 1000 ] && tail -n 1 "$project/hole" |
	tr -d '\0')" end

# What a commit leaves out may lie in a directory that was closed.
new_session 'echo one >f'
in_box 'echo two >f; mkdir e; echo in >e/in; chmod 0 e'
hb mark @s closed >/dev/null
check 'commit beside a closed directory' hb commit -y --only f @s
is 'what is in it is still pending' "$(names)" 'A e/,A e/in,'
check 'commit of it' hb commit -y @s
chmod 700 "$project/e"
is 'it is whole' "$(cat "$project/e/in")" in

# A directory that cannot be written is frozen all the same.
new_session 'echo one >f; chmod 555 .'
hb exec @s -- sh -c 'chmod 755 .; echo two >f; chmod 555 .'
check 'mark over a top that cannot be written' hb mark @s a
is 'the top keeps its mode' "$(in_box 'stat -c %a .')" 555
chmod 755 "$project"

# On a copy marks are the same.
hb create copy --strategy copy_on_write --cow "$project" >/dev/null
hb exec @copy -- sh -c 'echo one >f; echo a >a'
hb mark @copy m >/dev/null
hb exec @copy -- sh -c 'echo two >f; rm a; echo b >b'
hb fork @copy two >/dev/null
hb fork --from m @copy one >/dev/null
is 'a fork of a copy' "$(hb exec @two -- sh -c 'cat f b; ls a 2>/dev/null')" "$(printf 'two\nb')"
is 'a fork from a mark of a copy has its files' "$(hb exec @one -- sh -c 'cat f a; ls b 2>/dev/null')" "$(printf 'one\na')"
check 'back to the mark' hb rollback -y --to m @copy
is 'the copy follows' "$(hb exec @copy -- sh -c 'cat f a; ls b 2>/dev/null')" "$(printf 'one\na')"
check 'undo' hb undo @copy
is 'there as well' "$(hb exec @copy -- sh -c 'cat f b; ls a 2>/dev/null')" "$(printf 'two\nb')"
for i in copy one two; do
	hb cleanup -y "@$i" >/dev/null
done

# Where the kernel stacks no layers it is said before anything is frozen.
outside=$state
state=$project/state
mkdir "$project/in"
hb create in --cow "$project" >/dev/null
hb exec @in -- sh -c 'echo 1 >in/a'
out=$(hb mark @in a 2>&1)
is 'a store inside of the resource' "$?" 6
like 'comes with a fix' "$out" '*fix: *--state-dir*'
check_exit 'a fork is refused as well' 6 hb fork @in new
is 'a refused mark and fork leave everything as before' "$(hb diff --name-status @in)" "$(printf 'A\tin/a')"
check 'it goes on' hb exec @in -- sh -c 'echo 2 >>in/a'
hb cleanup -y @in >/dev/null
rm -r "$state"
state=$outside

check 'cleanup' hb cleanup -y @s
is 'leaves no layer' "$(ls -A "$state/layers" "$state/sessions" | tr -d '\n')" \
	"$state/layers:$state/sessions:"
finish
