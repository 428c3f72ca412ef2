#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# ARCHITECTURE gives a reason for the place of each stage of a box, in the order
# of src/box/stage.h.
. "$HB_TESTS/lib/tap.sh"

# stages_of FILE: the names of the rows, in order.
stages_of() {
	sed -n 's/^	ROW([A-Z_]*, "\([a-z-]*\)", [A-Z]*, [A-Z]*, [a-z_]*).*/\1/p' "$1"
}

# reasons_of FILE: the names of the table's rows, in order.
reasons_of() {
	sed -n '/^| stage | by |/,/^$/s/^| \([a-z-]*\) | [a-z]* | .*/\1/p' "$1" |
		grep -vx stage
}

printf '| stage | by | why |\n|---|---|---|\n| ids | init | x |\n| clone | init | y |\n\n' \
	>"$TMPDIR/table"
is 'the rows of a table are read' "$(reasons_of "$TMPDIR/table")" 'ids
clone'
rm "$TMPDIR/table"

is 'the build has stages' "$(stages_of "$HB_SOURCE/src/box/stage.h" | head -n 1)" clone
is 'ARCHITECTURE has the stages in their order' \
	"$(reasons_of "$HB_SOURCE/docs/ARCHITECTURE.md")" \
	"$(stages_of "$HB_SOURCE/src/box/stage.h")"
done_testing
