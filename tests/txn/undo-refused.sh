#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# An undo or redo that is refused names every path that stands against it, in
# words and in its document, and changes nothing.
. "$HB_TESTS/lib/txn.sh"

nl='
'
new_session 'mkdir d; echo 1 >a; echo 1 >b; echo 1 >d/c; echo 1 >free'
in_box 'echo 2 >a; echo 2 >b; echo 2 >d/c; echo 2 >free; echo 2 >new'
hb commit -y @s >/dev/null
(cd "$project" && echo 3 >a && echo 3 >d/c && rm new)
before=$(digest "$project")
said=$(hb undo @s 2>&1)
check_exit 'undo over later edits is a conflict' 5 hb undo @s
is 'a refused undo changes nothing' "$(digest "$project")" "$before"
is 'a refused undo names every path, and no other' "$(echo "$said" | grep '^conflict: ')" \
	"conflict: a: changed since the commit${nl}conflict: d/c: changed since the commit${nl}conflict: new: changed since the commit"
like 'a refused undo says how to go on' "$said" '*fix: undo never overwrites a later edit*'
is 'the document of a refused undo has every path' "$(hb undo --json @s 2>/dev/null |
	python3 -c 'import json, sys
d = json.load(sys.stdin)
print(d["error"]["code"], *(c["path"] + ":" + c["conflict"] for c in d["conflicts"]), sep="|")')" \
	'5|a:changed since the commit|d/c:changed since the commit|new:changed since the commit'

# The second resource is named by its directory.
remove_all
mkdir -p "$project" "$work/q"
echo 1 >"$project/f"
echo 1 >"$work/q/f"
hb create s --cow "$project" --cow "$work/q" >/dev/null
hb exec @s -- sh -c "echo 2 >f; echo 2 >'$work/q/f'"
hb commit -y @s >/dev/null
echo 3 >"$work/q/f"
like 'a path of another directory is named whole' "$(hb undo @s 2>&1)" \
	"conflict: $work/q/f: changed since the commit${nl}*"

# Redo, and a rollback that is undone.
new_session 'echo 1 >a; echo 1 >b'
in_box 'echo 2 >a; echo 2 >b'
hb commit -y @s >/dev/null
hb undo @s >/dev/null
echo 3 >"$project/a"
like 'a refused redo names its path' "$(hb redo @s 2>&1)" 'conflict: a: changed since the undo*fix: holdback diff*'
is 'nothing is redone' "$(cat "$project/a" "$project/b")" "3${nl}1"
new_session 'echo 1 >a'
in_box 'echo 2 >a'
hb rollback -y @s >/dev/null
in_box 'echo 3 >b'
like 'a rollback under later changes is not undone' "$(hb undo @s 2>&1)" '*conflict: *: other changes are pending*'
is 'the later change is still there' "$(hb exec @s -- cat a b)" "1${nl}3"
finish
