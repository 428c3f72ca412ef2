#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# tools/mutate on a toy: a table of three rows and a check that looks at two.
. "$HB_TESTS/lib/tap.sh"

toy=$TMPDIR/toy
mkdir -p "$toy/tools"
cat >"$toy/table" <<'END'
# not a row
one   act_one
two   act_two
three act_three
END
cat >"$toy/tools/mutate.tables" <<'END'
[deleted]
file = table
row = ^(?P<name>[a-z]+) +act_
build = true
check = grep -q act_one table && { grep -q act_two table || { echo 'FAIL user   box/two.sh: 1 failed'; false; }; }

[replaced]
file = table
row = ^(?P<name>[a-z]+) +act_\w+
blank = \g<name> ignore
before = ^one
insert = ignore is here
build = grep -q '^one' table
check = test "$(grep -c . table)" = 4 || ! grep -qx "$ROW ignore" table || ! grep -qx 'ignore is here' table

[prepared]
file = table
row = ^(?P<name>one)
first = echo once >>made
build = test "$(cat made)" = once
check = test -z "$ROW" || { echo '# ../../tests/unit/t_toy.c:7: expected it'; false; }

[unsound]
file = table
row = ^(?P<name>one)
build = true
check = false
END

mutate() {
	"$HB_SOURCE/tools/mutate" --source "$toy" "$@"
}
cp "$toy/table" "$TMPDIR/before"

is 'a row that no test notices is told' "$(mutate --table deleted)" \
	'deleted one: noticed by the check
deleted two: noticed by box/two.sh (user)
deleted three: NOT NOTICED
2 rows noticed, 1 not'
check_fails 'a row that no test notices is a failure' mutate --table deleted
check 'rows that are noticed are a success' mutate --table deleted --row 'o*'
is 'a row is replaced by what does nothing' "$(mutate --table replaced)" \
	'replaced one: noticed by the check
replaced two: noticed by the check
replaced three: noticed by the check
3 rows noticed, 0 not'
is 'what a table needs first is done once, and a check is named by its line' \
	"$(mutate --table prepared)" 'prepared one: noticed by t_toy.c:7
1 rows noticed, 0 not'
check_fails 'a check that fails anyway proves nothing' mutate --table unsound
check_fails 'a pattern without a row is a failure' mutate --row nothing
check 'the tree itself is not touched' cmp "$toy/table" "$TMPDIR/before"
rm -r "$toy" "$TMPDIR/before"
done_testing
