#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: clang-format
#
# .clang-format decides layout; `make format` applies it.
. "$HB_TESTS/lib/tap.sh"
. "$HB_TESTS/lib/files.sh"

printf 'int  x ;\n' >"$TMPDIR/bad.c"
check_fails 'a badly laid out file is found' \
	clang-format --style="file:$HB_SOURCE/.clang-format" \
	--dry-run -Werror "$TMPDIR/bad.c"
rm "$TMPDIR/bad.c"

badly_laid_out() {
	(cd "$HB_SOURCE" && c_files . |
		xargs -r clang-format --dry-run -Werror 2>&1 | grep 'error:')
}
is 'every file is laid out as .clang-format says' "$(badly_laid_out)" ''
done_testing
