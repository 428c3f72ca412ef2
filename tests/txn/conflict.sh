#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What the user changed since the session began is never overwritten unasked.
. "$HB_TESTS/lib/txn.sh"

new_session 'echo f >f; echo g >g; mkdir d; echo a >d/a'
in_box 'echo agent >f; echo agent >g'
echo user >"$project/f"
before=$(digest "$project")
out=$(hb commit -y @s 2>&1)
is 'a conflict is exit 5' "$?" 5
like 'it counts the places' "$out" '*changed in 1 place'"$(printf '\n')"'*'
unlike 'one is not many' "$out" '*1 places*'
like 'it names the path' "$out" '*conflict: f:*'
like 'with both times' "$out" '*real 20*session 20*'
unlike 'it does not say committed' "$out" '*committed *'
is 'nothing has changed' "$(digest "$project")" "$before"
is 'the session is kept' "$(names)" 'M f,M g,'
like 'status shows it' "$(hb status @s)" '*1 conflict*'

like 'commit --only g works' "$(hb commit -y --only g @s)" 'committed *'
is 'g is the agent'"'"'s' "$(cat "$project/g")" 'agent'
is 'f is the user'"'"'s' "$(cat "$project/f")" 'user'
is 'f is still pending, g is not' "$(names)" 'M f,'
check_exit 'a commit with a pending conflict exits with 5 again' 5 hb commit -y @s

in_box 'echo again >g'
like 'g, which was committed from here, is no conflict' \
	"$(hb commit -y --only g @s)" 'committed *'
echo later >"$project/g"
in_box 'echo third >g'
check_exit 'an edit of the user after that is one' 5 hb commit -y --only g @s
in_box 'echo new >n'
out=$(hb commit -y --ours g --ours f @s)
is 'commit --ours keeps the real version' "$?" 0
like 'commit --ours counts the files that it brings alone' "$out" '*: 1 file: 1 added ·*2 conflicts*'
is 'of both' "$(cat "$project/f" "$project/g")" "$(printf 'user\nlater')"

new_session 'echo f >f; echo g >g; mkdir d; echo a >d/a'
in_box 'echo agent >f'
echo user >"$project/f"
check 'commit --theirs takes the other one' hb commit -y --theirs f @s
is "--theirs brings the session's version" "$(cat "$project/f")" 'agent'
check 'undo' hb undo @s
is 'brings the user'"'"'s back' "$(cat "$project/f")" 'user'

new_session 'mkdir d; echo a >d/a; echo f >f'
in_box 'rm -r d; echo same >f; echo mine >both'
echo added >"$project/d/user"
check_exit 'a file added to a directory that was deleted' 5 hb commit -y @s
is 'does not vanish' "$(cat "$project/d/user")" 'added'
rm "$project/d/user"
echo same >"$project/f"
echo theirs >"$project/both"
check_exit 'both added a file' 5 hb commit -y @s
rm "$project/both"
check 'the same change on both sides is none' hb commit -y @s

new_session 'mkdir d; echo a >d/a'
in_box 'echo agent >d/agent'
echo user >"$project/d/user"
check 'two files in one directory are no conflict' hb commit -y @s
is 'both are there' "$(cd "$project/d" && echo *)" 'a agent user'

new_session 'echo f >f'
in_box 'echo agent >f'
check 'commit' hb commit -y @s
check 'undo' hb undo @s
in_box 'echo more >>f'
check 'after an undo the old file is no conflict' hb commit -y @s
is 'a commit after an undo brings everything' "$(cat "$project/f")" "$(printf 'agent\nmore')"

new_session 'echo f >f'
in_box 'echo agent >f'
echo user >"$project/f"
check 'rollback' hb rollback -y @s
in_box 'cat f; echo after >>f'
check 'what the user did before a rollback is no conflict' hb commit -y @s
is 'the base has both' "$(cat "$project/f")" "$(printf 'user\nafter')"

new_session 'echo f >f'
in_box 'echo agent >f'
echo user >"$project/f"
hb rollback -y @s >/dev/null
check 'undo of a rollback' hb undo @s
is 'brings the changes back' "$(names)" 'M f,'
check_exit 'undo of a rollback brings the conflict back' 5 hb commit -y @s
# Also with a commit of nothing between the two.
new_session 'mkdir d; echo 1 >d/a'
in_box 'echo 2 >d/a'
rm "$project/d/a"
hb rollback -y @s >/dev/null
hb commit -y @s >/dev/null
check 'undo of a rollback before a commit of nothing' hb undo @s
check_exit 'brings the conflict' 5 hb commit -y @s
# What the user removed does not come back, on a copy as little as elsewhere.
new_session 'mkdir d; echo 1 >f; echo 2 >d/g; echo 3 >t; echo 4 >ro; chmod 400 ro; echo 5 >k'
in_box 'echo new >>f; echo new >d/g; touch t; chmod 444 ro; echo own >own'
in_box 'echo more >>f; echo more >>own'
rm "$project/f" "$project/d/g" "$project/t" "$project/ro"
check_exit 'removed from the base' 5 hb commit -y @s
is 'status tells each file that was removed from the base' "$(hb status @s | grep -B1 'conflict: removed' | grep -o '[A-Z] [a-z/]*$' |
	tr '\n' ' ')" 'A d/g A f A ro '
is 'a file that the user removed stays away' "$(cd "$project" && find . -type f)" ./k
check 'what is new is none' hb commit -y --only own @s
is 'a new file in a directory with conflicts is committed' "$(cat "$project/own")" "$(printf 'own\nmore')"
# Of a directory as well.
new_session 'mkdir -p d/e g; echo 1 >d/e/f; echo 1 >g/f; echo 5 >k'
in_box 'chmod 700 d/e; echo n >g/n; mkdir -p h/i'
in_box 'chmod 750 d/e; echo m >g/m; echo n >h/i/n'
rm -r "$project/d/e" "$project/g"
check_exit 'directories that were removed' 5 hb commit -y @s
is 'are told' "$(hb status @s | grep -B1 'conflict: removed' | grep -o '[A-Z] [a-z/]*$' |
	tr '\n' ' ')" 'A d/e/ A g/ '
check 'what is new is none' hb commit -y --except g --except d/e @s
is 'a new file beside conflicts is committed' "$(cat "$project/h/i/n")" n
is 'without a mark' "$(python3 -c 'import os, sys; print(*os.listxattr(sys.argv[1]))' "$project/h/i/n")" ''
# Nor if a part was committed to the same directory meanwhile.
new_session 'mkdir d; echo 1 >d/a; echo 1 >d/b'
in_box 'echo 2 >d/a; echo z >d/z; echo y >d/y; echo 2 >d/b'
check 'a part' hb commit -y --only d/y @s
unlike 'a commit of a part makes no conflict' "$(hb status @s)" '*conflict*'
rm "$project/d/a"
check 'another part' hb commit -y --only d/z @s
check_exit 'is not the end of the conflict' 5 hb commit -y @s
check 'undo of a commit of a part does not end the conflict' hb undo @s
check_exit 'of which it is known' 5 hb commit -y @s
is 'it is not there' "$(ls "$project/d" | tr '\n' ' ')" 'b y '
check 'all but that' hb commit -y --except d/a @s

# A directory that was removed is not made again for what lies in it, whatever was
# committed beside it, and whatever was marked.
new_session 'mkdir -p d/e; echo 1 >d/a; echo 2 >d/e/b; echo 3 >k'
in_box 'echo x >d/a; echo y >d/e/b; echo n >d/n; echo z >k'
rm -r "$project/d"
removed=$(stat -c %y "$project")
check_exit 'something in a directory that was removed' 5 hb commit -y --only /d/e @s
like 'says why' "$(hb commit -y --only /d/n @s 2>&1)" '*conflict: d/n: a directory above it was removed*'
check 'all but the directory' hb commit -y --except /d @s
is 'the real one keeps the time of what the user did' "$(stat -c %y "$project")" "$removed"
check_exit 'after which it is a conflict' 5 hb commit -y @s
check 'a mark' hb mark @s m
check_exit 'after which it is one' 5 hb commit -y @s
check_exit 'a file in a conflicting directory is a conflict' 5 hb commit -y --only /d/e @s
is 'it stays away' "$(cd "$project" && find . -mindepth 1)" ./k
check '--ours leaves all of it' hb commit -y --ours /d @s
is 'as it is' "$(cd "$project" && find . -mindepth 1)" ./k
check '--theirs takes what is asked for' hb commit -y --only /d/e --theirs /d/e @s
is 'with the directory' "$(cd "$project" && find d | sort | tr '\n' ' ')" 'd d/e d/e/b '
check 'the rest is committed after --theirs for a part' hb commit -y @s
is 'is all of it' "$(cd "$project" && cat d/a d/n)" "$(printf 'x\nn')"

# Nor for one of which nothing but what lies in it is pending.
new_session 'mkdir -p d/e/c; echo 1 >d/e/a; echo 1 >b'
in_box 'touch d/e; echo 4 >d/c'
check 'a commit in the directory' hb commit -y @s
in_box 'rmdir d/e/c; echo 2 >new; mv new d/e/a; echo 2 >b'
rm -r "$project/d"
check_exit 'the directory is removed' 5 hb commit -y @s
check 'all but it' hb commit -y --except /d @s
check 'a mark' hb mark @s m
check_exit 'it is a conflict still' 5 hb commit -y @s
check_exit 'a file in a conflicting directory over a mark is a conflict' 5 hb commit -y --only /d/e/a @s
is 'it stays away' "$(cd "$project" && find . -mindepth 1)" ./b
check '--theirs takes it' hb commit -y --theirs /d @s
is 'with all of it' "$(cd "$project" && find d -type f)" d/e/a
is '--theirs for a directory over a mark leaves nothing pending' "$(names)" ''
rm -r "$project/d"
in_box 'echo 3 >b'
check 'removed again, with nothing pending in it' hb commit -y @s
is 'it stays away' "$(cd "$project" && find . -mindepth 1)" ./b
# A file that the user renamed is deleted inside, and is there again by its old name.
new_session 'echo same >old; echo x >x'
mv "$project/old" "$project/new"
in_box 'rm new; echo same >old'
out=$(hb commit -y @s 2>&1)
is 'a deleted file that the user renamed is a conflict' "$?" 5
like 'the path that the user gave it is named' "$out" '*conflict: new: *--theirs*'
check 'the conflict is answered' hb commit -y --theirs new @s
is 'the file has its old name' "$(ls "$project" | tr '\n' ' ')" 'old x '
finish
