#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
#
# A secret that the real directory had is news where it was not: whatever way it
# goes there, and whether or not anybody has looked at it before.
. "$HB_TESTS/lib/txn.sh"

token() {
	head -c 400 /dev/urandom | LC_ALL=C tr -dc 'A-Z2-7' | head -c 16
}
key=AKIA$(token)
ignored=

# found PATH...: the lines of each that the gate asks about as a secret.
found() {
	hb gate $ignored @s >"$TMPDIR/found" 2>&1
	for path; do
		sed -n "s|^ask: \($path:[0-9]*\): .* \[secret\]$|\1|p" "$TMPDIR/found"
	done | tr '\n' ','
	rm "$TMPDIR/found"
}

new_session "git init -q .; printf '/build/\n*.local\n' >.gitignore; mkdir build doc
	for f in build/m build/l build/c my.local seen; do printf 'key\n%s\n' '$key' >\$f; done
	echo nothing >build/n; echo nothing >doc/n2; git add .gitignore seen doc"
before=$(digest "$project")
in_box 'mv build/m moved; ln build/l linked; cp build/c copied; mv my.local plain.txt
	mv seen doc/seen; mv build/n doc/n; mv doc/n2 n2'
is 'by rename, link and copy out of what is ignored' "$(found moved linked copied plain.txt)" \
	'moved:2,linked:2,copied:2,plain.txt:2,'
ignored=--ignored
is 'the same where what is ignored goes as well' "$(found moved linked copied plain.txt)" \
	'moved:2,linked:2,copied:2,plain.txt:2,'
ignored=
is 'by rename of what nobody has looked at' "$(found doc/seen)" 'doc/seen:2,'
is 'what has none is moved without a word' "$(found doc/n n2)" ''
check_exit 'commit -y does not answer' 4 hb commit -y @s
is 'nothing has changed' "$(digest "$project")" "$before"
check_exit 'a moved file that asks is refused alone' 4 hb commit -y --only moved @s
check 'the rest goes' hb commit -y --except moved --except linked --except copied \
	--except plain.txt --except doc/seen --except seen @s
check 'allowed, they go' hb commit -y --allow secret @s
is 'moved files that were allowed are committed' "$(cat "$project/moved" "$project/doc/seen")" \
	"$(printf 'key\n%s\nkey\n%s' "$key" "$key")"

# What stays where it was is no news, whatever happens to it besides.
new_session "printf 'key\n%s\n' '$key' >stays; mkdir d"
in_box 'chmod 600 stays; touch stays; echo more >>stays'
is 'what was there is not asked about again' "$(found stays)" ''
check 'a move of what was there is committed' hb commit -y @s
finish
