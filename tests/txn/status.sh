#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# One screen that says how a session stands, whatever is in it.  (N1, N2, N5, N6)
. "$HB_TESTS/lib/txn.sh"

new_session 'mkdir -p old/in; for i in 1 2 3; do echo $i >old/$i; echo $i >old/in/$i; done
	echo k >keep; echo c >conflict; echo g >gone'
status=$(hb status @s)
is 'a session without changes' "$status" "session s: idle, on $project
overlay · not mounted · 0 B held back
no changes"

in_box 'i=0; while [ $i -lt 10000 ]; do i=$((i + 1)); : >n$i; done'
in_box 'rm -r old gone; echo mine >conflict; mkfifo fifo'
in_box 'touch -d @1 n5'
in_box 'echo newest >n7777'
echo theirs >"$project/conflict"
hb status @s >"$TMPDIR/screen"
check 'ten thousand changes are one screen' [ "$(wc -l <"$TMPDIR/screen")" -lt 40 ]
is 'what is deleted comes first, with its directory' "$(grep '^  D' "$TMPDIR/screen")" \
	'  D gone
  D old/ (and 7 below)'
is 'a conflict is there' "$(grep -c '^    conflict: ' "$TMPDIR/screen")" 1
is 'status shows the change that has to be asked for' "$(grep -A1 '^  A fifo' "$TMPDIR/screen" | tail -1)" \
	'    a fifo, committed only with --special'
is 'then the newest' "$(grep '^  A n' "$TMPDIR/screen" | head -1)" '  A n7777'
is 'twenty of them' "$(grep -c '^  A n' "$TMPDIR/screen")" 20
is 'status says how many changes there are' "$(grep more "$TMPDIR/screen")" '  … and 9980 more; -v shows all'
is 'the last line counts all' "$(tail -n 1 "$TMPDIR/screen")" \
	'10009 files: 1 changed, 10001 added, 7 deleted · 2 directories · 1 conflict'
is 'with -v there are all' "$(hb status -v @s | grep -c '^  [AMD] ')" 10011
rm "$TMPDIR/screen"
check 'rollback' hb rollback -y @s

in_box 'echo 12345678 >keep'
check 'commit' hb commit -y @s
in_box 'echo 2 >keep'
check 'commit again' hb commit -y @s
is 'the last commits with what undo keeps' \
	"$(hb status @s | sed -n 's/^committed [-0-9]* [:0-9]* · //p')" 'undo 9 B
undo 2 B'
is 'also in the document' "$(hb status --json @s | python3 -c 'import json, sys
print([(p["rollback"], p["undo_bytes"]) for p in json.load(sys.stdin)["past"]])')" \
	'[(False, 9), (False, 2), (True, 0)]'
check 'undo' hb undo @s
is 'what was undone is none of them' "$(hb status @s | grep -c '^committed ')" 1
in_box 'echo x >.envrc'
is 'what the gate would ask' "$(hb status @s | grep '^gate: ')" \
	'gate: 1 needs approval; holdback gate has the list'
mkdir -p "$HOME/.config/holdback"
echo nonsense >"$HOME/.config/holdback/gate.rules"
like 'also if it cannot be asked' "$(hb status @s)" '*A .envrc*gate: *changed*'
rm -r "$HOME/.config"
check 'rollback' hb rollback -y @s .envrc
check 'mark' hb mark @s m
in_box 'echo 3 >keep'
is 'with -v where it lies' "$(hb status -v @s | sed -n 's/^  \(upper\|layer\) //p' | while read -r dir; do
	cat "$dir/keep"
done)" "$(printf '3\n2')"

finish
