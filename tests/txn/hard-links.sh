#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Moving one name of a file changes the ctime of its others.  Where that was us
# it is no conflict, and what the user did to them still is one.
. "$HB_TESTS/lib/txn.sh"

base='echo one >a; ln a b; ln a c; echo x >x; ln x y'

new_session "$base"
in_box 'rm a; echo more >>x'
check 'one name is deleted, one is written to' hb commit -y @s
in_box 'echo two >>b; echo two >>y'
check 'then the others are no conflict' hb commit -y @s
check 'nor after an undo' hb undo @s
check 'when they are committed again' hb commit -y @s
check 'two undos' hb undo @s
check 'in a row' hb undo @s
is 'the names are one file again' "$(stat -c %i "$project/a")" "$(stat -c %i "$project/c")"
check 'redo' hb redo @s
in_box 'echo three >>c'
check 'the last one' hb commit -y @s

new_session "$base"
in_box 'rm a'
check 'one name is deleted' hb commit -y @s
echo user >>"$project/c"
in_box 'echo two >>b'
check_exit 'the user writes to another: a conflict' 5 hb commit -y @s

new_session "$base"
in_box 'echo agent >>a; echo agent >>b'
echo user >>"$project/c"
check 'what is taken over the user'"'"'s' hb commit -y --only a --theirs a @s
check_exit 'does not hide that he wrote to the others' 5 hb commit -y @s

new_session "$base"
in_box 'rm a'
check 'one name is deleted once more' hb commit -y @s
setfattr_b() {
	python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.of", b"user")' "$project/b"
}
check 'the user sets an attribute' setfattr_b
check 'undo brings the name back' hb undo @s
check 'the deletion is thrown away' hb rollback -y @s
check 'which is undone' hb undo @s
in_box 'echo two >>b'
check_exit 'and what he did is found' 5 hb commit -y @s
finish
