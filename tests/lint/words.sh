#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What no file says: that it is unfinished, or where it lies on a machine.
. "$HB_TESTS/lib/tap.sh"
. "$HB_TESTS/lib/files.sh"

# unfinished TREE: lines that promise to be written later.
unfinished() {
	(cd "$1" && all_files . | grep -v '^LICENSE$' | tr '\n' '\0' |
		xargs -0 -r grep -InwE \
			'[T]ODO|[F]IXME|[X]XX|[H]ACK|[f]or now')
}

# without_licence TREE: code whose first lines do not name the licence.
without_licence() {
	code_files "$1" | while read -r file; do
		head -n 5 "$1/$file" |
			grep -q 'SPDX-License-Identifier: Apache-2\.0' ||
			echo "$file"
	done
}

# of_this_machine TREE: lines with the path of the tree itself.
of_this_machine() {
	(cd "$1" && all_files . | tr '\n' '\0' |
		xargs -0 -r grep -InF "$1/")
}

fixture=$TMPDIR/fixture
mkdir "$fixture"
printf '/* %s: later */\n' 'TO''DO' >"$fixture/a.c"
echo "path = $fixture/a.c" >"$fixture/b.txt"
is 'an unfinished file is found' "$(unfinished "$fixture")" \
	"a.c:1:$(cat "$fixture/a.c")"
is 'a file without a licence is found' "$(without_licence "$fixture")" a.c
is 'a path of this machine is found' "$(of_this_machine "$fixture")" \
	"b.txt:1:path = $fixture/a.c"
rm -r "$fixture"

is 'nothing is left for later' "$(unfinished "$HB_SOURCE")" ''
is 'all code names its licence' "$(without_licence "$HB_SOURCE")" ''
is 'no file knows where it lies' "$(of_this_machine "$HB_SOURCE")" ''
done_testing
