#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Everything arrives as it was in the view, in every attribute.
. "$HB_TESTS/lib/txn.sh"

# Inside and outside are compared by the same program.
cp "$HB_TESTS/lib/digest.py" "$TMPDIR/digest.py"

new_session '
	mkdir d sub closed; echo a >d/a; echo b >sub/b; echo c >c
	chmod 750 sub; ln -s c link; cp "$TMPDIR/digest.py" .digest
	echo in >closed/in; chmod 555 closed
'
in_box '
	echo x >x; chmod 640 x; touch -d "2001-02-03 04:05:06.123456789" x
	echo changed >>c; touch -d "2002-02-03 04:05:06.987654321" c
	mkdir -p new/deep; echo y >new/deep/y; chmod 700 new
	touch -d "2003-01-01 00:00:00.000000001" new/deep new
	ln x x2; ln x new/x3
	ln -sfn nowhere link; ln -s "a b" sub/"a link"
	python3 -c "import os; os.setxattr(\"x\", \"user.mine\", b\"value\")"
	python3 -c "import os; os.setxattr(\"sub\", \"user.dir\", b\"value\")"
	truncate -s 10M sparse; echo end >>sparse
	chmod 700 sub; rm -r d; mkdir d; echo other >d/other
	touch -d "2004-01-01 00:00:00.5" d .
	: >"$(printf "odd\nname")"; : >-dash; : >"$(printf "\377")"
'
inside=$(in_box 'python3 .digest .')
like 'inside there is a hard link' "$inside" '*x3*'
like 'inside a file has an attribute' "$inside" '*user.mine*'
check 'commit' hb commit -y @s
is 'the real tree is what was inside' "$(digest "$project")" "$inside"
unlike 'no attribute of the overlay is left' "$(digest "$project")" '*overlay*'

in_box 'chmod u+w closed; echo no >closed/in; chmod 555 closed'
check 'commit of a file in a directory without u+w' hb commit -y @s
is 'the directory is as it was' "$(stat -c %a "$project/closed")" '555'
is 'its file is the new one' "$(cat "$project/closed/in")" 'no'

# An ACL is a mode as well: set before the other attributes, it would keep the
# owner from setting them.
acl() {
	# shellcheck disable=SC2016 # expanded inside
	printf 'python3 -c "
import os, struct, sys
def acl(owner):
    entries = [(1, owner, 0xffffffff), (2, 4, os.getuid()), (4, 4, 0xffffffff), (0x10, 4, 0xffffffff), (0x20, 4, 0xffffffff)]
    return struct.pack(\"<I\", 2) + b\"\".join(struct.pack(\"<HHI\", *e) for e in entries)
def dress(path, mode):
    os.setxattr(path, \"user.a\", b\"1\")
    os.setxattr(path, \"system.posix_acl_access\", acl(6))
    os.setxattr(path, \"user.zz\", b\"2\")
    os.chmod(path, mode)
%s
"' "$1"
}
if (cd "$project" && : >tried && eval "$(acl 'dress(\"tried\", 0o444)')") 2>/dev/null; then
	dressed='dress(\"f\", 0o444); dress(\"d\", 0o555); dress(\"n\", 0o400); dress(\"d2/in\", 0o444); dress(\"e\", 0o555)
os.setxattr(\"g\", \"system.posix_acl_default\", acl(4)); open(\"g/in\", \"w\").write(\"in\")
os.chmod(\"g/in\", 0o644); os.setxattr(\"g/in\", \"user.b\", b\"3\"); os.chmod(\"g/in\", 0o444)'
	for how in plain mark; do
		new_session 'echo f >f; mkdir d d2 g; echo in >d2/in; cp "$TMPDIR/digest.py" .digest'
		before=$(digest "$project")
		in_box ': >n; mkdir e; echo x >e/x; echo more >>f'
		[ $how = plain ] || check 'a mark below' hb mark @s m
		in_box "$(acl "$dressed")"
		inside=$(in_box 'python3 .digest .')
		like "$how: inside they have all of them" "$inside" '*user.zz*'
		check "$how: attributes beside an ACL and without u+w are committed" hb commit -y @s
		is "$how: and arrive" "$(digest "$project")" "$inside"
		check "$how: undo" hb undo @s
		is "$how: takes them back" "$(digest "$project")" "$before"
		is "$how: and they are pending" "$(in_box 'python3 .digest .')" "$inside"
		check "$how: redo" hb redo @s
		is "$how: brings them again" "$(digest "$project")" "$inside"
		check "$how: undo once more" hb undo @s
		[ $how = mark ] || check 'rollback of one' hb rollback -y @s f
		[ $how = mark ] || check 'a commit of several names over a mark is undone' hb undo @s
		check "$how: rollback" hb rollback -y @s
		check "$how: which is undone" hb undo @s
		is "$how: they are as they were" "$(in_box 'python3 .digest .')" "$inside"
		check "$how: a fork" hb fork @s t
		is "$how: has them" "$(hb exec @t -- python3 .digest .)" "$inside"
		check "$how: cleanup" hb cleanup -y @t
		check "$how: of both" hb cleanup -y @s
	done
fi
rm -f "$TMPDIR/digest.py"
finish
