#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Every test that docs/security.md names is there, every row names one, and the
# table of attempts is among them.
. "$HB_TESTS/lib/tap.sh"

# missing PAGE TREE: tests that the page names and the tree lacks.
missing() {
	grep -o 'tests/[a-z]*/[A-Za-z0-9_.-]*[a-z]' "$1" | sort -u |
		while read -r file; do
			[ -e "$2/$file" ] || echo "$file"
		done
}

# without_test PAGE: rows of its tables that name no test.
without_test() {
	grep '^|' "$1" | grep -v -e '^|---' -e '^| attack ' | grep -v 'tests/'
}

fixture=$(mktemp)
printf '| attack | one | two | test |\n| a | b | c | tests/escape/none.sh |\n| d | e | f | – |\n' \
	>"$fixture"
is 'control: a test that is not there is found' \
	"$(missing "$fixture" "$HB_SOURCE")" tests/escape/none.sh
is 'control: a row without a test is found' "$(without_test "$fixture")" \
	'| d | e | f | – |'
rm "$fixture"
page=$HB_SOURCE/docs/security.md
is 'every test of the threat model is there' "$(missing "$page" "$HB_SOURCE")" ''
is 'every attack of the threat model has one' "$(without_test "$page")" ''
check 'the page at the top leads there' grep -q 'docs/security.md' \
	"$HB_SOURCE/SECURITY.md"
done_testing
