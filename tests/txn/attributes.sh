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
like 'and an attribute' "$inside" '*user.mine*'
check 'commit' hb commit -y @s
is 'the real tree is what was inside' "$(digest "$project")" "$inside"
unlike 'no attribute of the overlay is left' "$(digest "$project")" '*overlay*'

in_box 'chmod u+w closed; echo no >closed/in; chmod 555 closed'
check 'commit of a file in a directory without u+w' hb commit -y @s
is 'the directory is as it was' "$(stat -c %a "$project/closed")" '555'
is 'its file is the new one' "$(cat "$project/closed/in")" 'no'
rm -f "$TMPDIR/digest.py"
finish
