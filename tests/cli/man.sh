#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# modes: user
#
# The option tables and the man pages say the same, in both directions.
. "$HB_TESTS/lib/cli.sh"

pages=$HB_SOURCE/docs/man

# in_page PAGE: the options of its OPTIONS, sorted: "--long -s METAVAR".
in_page() {
	sed -n '/^# OPTIONS/,/^# [^O]/{
		/^\*-/{
			s/^\*\(-[a-z]\)\*, \*\(--[a-z0-9-]*\)\*/\2 \1/
			s/^\*\(--[a-z0-9-]*\)\*/\1/
			s/ _\([^ ]*\)_/ \1/g
			p
		}
	}' "$pages/$1" | sort
}

# in_table COMMAND: the same from the table of holdback.
in_table() {
	"$HB_BIN" help --list | awk -F '\t' -v command="$1" '
		$1 == command && $2 != "-" {
			line = $2
			if ($3 != "-") line = line " " $3
			if ($4 != "-") line = line " " $4
			print line
		}' | sort
}

is 'holdback(1) has the options of every command' \
	"$(in_page holdback.1.scd)" "$(in_table -)"
for command in $("$HB_BIN" help --list | cut -f 1 | sort -u | grep -v '^-$'); do
	if [ -e "$pages/holdback-$command.1.scd" ]; then
		[ "$command" = bwrap ] && continue
		is "holdback-$command(1) has the options of $command" \
			"$(in_page "holdback-$command.1.scd")" \
			"$(in_table "$command")"
	else
		is "$command needs no page of its own" "$(in_table "$command")" ''
	fi
	check "holdback(1) names $command" \
		grep -q "^\*$command\*" "$pages/holdback.1.scd"
done

# From the synopsis to the next head.
synopsis=$(sed -n '/^# SYNOPSIS/,/^# DESC/p' "$pages/holdback.1.scd")
for command in $("$HB_BIN" help --list | cut -f 1 | sort -u | grep -v '^-$'); do
	like "the synopsis of holdback(1) has $command" "$synopsis" "*\*$command\**"
done
is 'holdback(1) has every exit status of a command' \
	"$(sed -n '/^# EXIT STATUS/,/^# FILES/s/^| *\[* *\*\([0-9]*\)\*$/\1/p' "$pages/holdback.1.scd")" \
	"$(sed -n 's/^	HB_EXIT_[A-Z_]* = \([0-9]*\),$/\1/p' "$HB_SOURCE/include/holdback/holdback.h")"

# The front end lists its own table: option, arguments, words.
is 'holdback-bwrap(1) has the 67 options' \
	"$(in_page holdback-bwrap.1.scd)" \
	"$("$HB_BWRAP" --help |
		sed -n 's/^    \(--[a-z0-9-]*\( [A-Z][A-Z]*\)*\) .*/\1/p' |
		sort)"
is 'and they are 67' "$(in_page holdback-bwrap.1.scd | wc -l)" 67

for page in "$pages"/*.scd; do
	name=${page##*/}
	name=${name%.scd}
	is "$name names itself" "$(head -n 1 "$page")" "${name%.1}(1)"
	check "$name was made" test -s "$HB_SOURCE/man/$name"
	# Every page that it points to exists; bwrap(1) is bubblewrap's.
	for other in $(grep -o '\*[a-z-]*\*(1)' "$page" | tr -d '*' |
		sed 's/(1)//' | sort -u); do
		[ "$other" = bwrap ] ||
			check "$name points to $other, which exists" \
				test -e "$pages/$other.1.scd"
	done
done
done_testing
