#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: gcc
#
# Every header compiles alone, so that the order of includes never matters.
. "$HB_TESTS/lib/tap.sh"
. "$HB_TESTS/lib/files.sh"

# compiles_alone TREE HEADER
compiles_alone() {
	printf '#include "%s"\n' "$1/$2" |
		gcc -x c -std=gnu17 -fsyntax-only -D_GNU_SOURCE -DHB_FAULTS \
			-Wall -Wextra -Werror -Wno-unused-function \
			-iquote "$1/src" -I"$1/include" -I"$1/tests/lib" -
}

mkdir "$TMPDIR/src"
echo 'int f(struct unknown u);' >"$TMPDIR/src/bad.h"
check_fails 'a header that needs another first is found' \
	compiles_alone "$TMPDIR" src/bad.h
rm -r "$TMPDIR/src"

for header in $(c_files "$HB_SOURCE" | grep '\.h$'); do
	check "$header compiles alone" compiles_alone "$HB_SOURCE" "$header"
done
done_testing
