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
check 'an undo makes the other names no conflict' hb undo @s
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
check 'a rollback of the deletion of a name is undone' hb undo @s
in_box 'echo two >>b'
check_exit 'a write of the user to another name is a conflict' 5 hb commit -y @s

# A name that the base never had is new, whatever the file behind it was.
for strategy in overlay copy_on_write; do
	HB_STRATEGY=$strategy
	new_session 'echo one >f; mkdir d; echo two >d/g; : >empty; echo old >gone'
	in_box 'ln f new; ln d/g d/new; ln f d/third; ln empty hollow; echo more >>d/g'
	echo other >"$project/user"
	echo other >"$project/d/user"
	check "$strategy: a link to a new name where the user adds a file is no conflict" hb commit -y @s
	is "$strategy: they are one file" "$(stat -c %i "$project/f" "$project/d/third" | uniq)" \
		"$(stat -c %i "$project/new")"
	is "$strategy: also the one that was written to" "$(cat "$project/d/new")" "$(printf 'two\nmore')"
	check "$strategy: undo" hb undo @s
	is "$strategy: takes the names back" "$(ls "$project" | tr '\n' ,)" d,empty,f,gone,user,
	echo another >"$project/user2"
	check "$strategy: and they are committed again" hb commit -y @s

	new_session 'echo one >f; echo two >g; echo 3 >h; ln h i'
	in_box 'ln f new; echo x >>f; echo x >>g; echo x >>h'
	rm "$project/g" "$project/f" "$project/i"
	check_exit "$strategy: what the user removed is a conflict" 5 hb commit -y @s
	like "$strategy: each by its name" "$(hb status @s)" '*f*removed from the base*g*removed from the base*'
	if [ $strategy = copy_on_write ]; then
		like 'one of several names of a file as well' "$(hb status @s)" '*i*removed from the base*'
		unlike 'a new name is not told as removed from the base' "$(hb status @s)" '*new*removed from the base*'
	fi

	# Symbolic links have names as files do.
	new_session 'ln -s t a; ln -P a b; ln -s t c; ln -s t e; echo f >f'
	in_box 'ln -s new n; ln -P n m; mkdir d; ln -P n d/o; ln -Pf c e; ln -P a d/a; mkfifo p; ln p d/p'
	check "$strategy: symbolic links with several names" hb commit -y --special @s
	is "$strategy: stay one object" "$(cd "$project" && stat -c %h n m d/o c e p d/p | tr '\n' ,)" 3,3,3,2,2,2,2,
	check "$strategy: undo of them" hb undo @s
	is "$strategy: parts those that it joined" "$(cd "$project" && stat -c %h c e | tr '\n' ,)" 1,1,
	hb mark @s m >/dev/null
	check "$strategy: over a mark" hb commit -y --special @s
	is "$strategy: they stay one object too" "$(cd "$project" && stat -c %h n m d/o c e p d/p | tr '\n' ,)" 3,3,3,2,2,2,2,
done
finish
