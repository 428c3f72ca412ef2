#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: shellcheck
. "$HB_TESTS/lib/tap.sh"
. "$HB_TESTS/lib/files.sh"

# SC1091: what a test sources is found at run time, and checked by itself.
# SC2016: what a test hands to the shell inside is quoted so on purpose.
flawless() {
	(cd "$1" && shift && shellcheck -e SC1091,SC2016 -f gcc "$@")
}

printf '#!/bin/sh\nrm $1/*\n' >"$TMPDIR/bad.sh"
check_fails 'a mistake is found' flawless "$TMPDIR" bad.sh
rm "$TMPDIR/bad.sh"

for file in $(shell_files "$HB_SOURCE"); do
	check "$file" flawless "$HB_SOURCE" "$file"
done
done_testing
