#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: gcc
#
# Paths are resolved in src/sys alone: elsewhere the calls do not compile.
. "$HB_TESTS/lib/tap.sh"

# compiles CODE
compiles() {
	printf 'void f(char *s);\nvoid f(char *s) { %s; }\n' "$1" |
		gcc -x c -std=gnu17 -fsyntax-only -D_GNU_SOURCE \
			-Wno-unused-value -include "$HB_SOURCE/src/sys/banned.h" -
}

check 'ordinary code compiles' compiles 'int n = (int)strlen(s); (void)n'
for call in 'open(s, 0)' 'openat(0, s, 0)' 'rename(s, s)' 'mkdir(s, 0)' \
	'execvp(s, 0)' 'system(s)' 'getenv(s)' 'strcpy(s, s)'; do
	check_fails "$call does not" compiles "$call"
done

# The table of folders says which libraries are built behind it.
is 'src/sys alone may take paths' \
	"$(awk '!/^#/ && NF && $3 != "banned" { print $2, $3 }' \
		"$HB_SOURCE/tests/lint/layers")" 'sys raw'
check 'the build takes that from the table' \
	grep -q "words\[2\] == 'banned' ? banned_args" "$HB_SOURCE/meson.build"

# A library or program of ours that forgets the header has no ban at all.
# src/sys alone is built without it; generators run on the machine that builds.
for file in "$HB_SOURCE"/src/*/meson.build; do
	dir=$(basename "$(dirname "$file")")
	[ "$dir" != sys ] || continue
	is "every library and program of src/$dir is built behind it" \
		"$(grep -cE "^( *[a-z_]+ = | *)(static_library|executable)\(" "$file")" \
		"$(grep -cE 'c_args : banned_args|native : true' "$file")"
done
done_testing
