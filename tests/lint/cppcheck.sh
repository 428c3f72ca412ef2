#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: cppcheck
. "$HB_TESTS/lib/tap.sh"

flawless() {
	(cd "$1" && cppcheck --quiet --error-exitcode=1 --inline-suppr -j 2 \
		--enable=warning,performance,portability --std=c11 \
		--suppress=missingIncludeSystem -D_GNU_SOURCE -DHB_FAULTS \
		-Isrc -Iinclude src)
}

mkdir "$TMPDIR/src" "$TMPDIR/include"
echo 'int f(void) { int a[2]; a[2] = 1; return a[0]; }' >"$TMPDIR/src/bad.c"
check_fails 'a mistake is found' flawless "$TMPDIR"
rm -r "$TMPDIR/src" "$TMPDIR/include"

check 'src has none' flawless "$HB_SOURCE"
done_testing
