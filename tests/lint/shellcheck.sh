#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: shellcheck
. "$HB_TESTS/lib/tap.sh"
. "$HB_TESTS/lib/files.sh"

# SC2016: what a test hands to the shell inside is quoted so on purpose.
# SC2034: a library sets variables for those who source it.
flawless() {
	excluded=SC2016
	case $2 in
	*/lib/*) excluded=$excluded,SC2034 ;;
	esac
	(cd "$1" && shellcheck -x -P "$HB_SOURCE/tests" -S warning \
		-e "$excluded" -f gcc "$2")
}

printf '#!/bin/sh\n[ $1 == x ]\n' >"$TMPDIR/bad.sh"
check_fails 'a mistake is found' flawless "$TMPDIR" bad.sh
rm "$TMPDIR/bad.sh"

for file in $(shell_files "$HB_SOURCE"); do
	check "$file" flawless "$HB_SOURCE" "$file"
done
done_testing
