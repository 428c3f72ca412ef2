#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: groff scdoc
#
# The man pages list the commands, options and exit statuses of the tables, and
# groff shows each page whole.
. "$HB_TESTS/lib/tap.sh"

pages=$HB_SOURCE/docs/man
header=$HB_SOURCE/include/holdback/holdback.h
sections='[157]'
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# source_of PAGE: the page as scdoc reads it.
source_of() {
	"$HB_SOURCE/tools/man" "$1"
}

# in_page PAGE: the options of its OPTIONS, sorted: "--long -s METAVAR".
in_page() {
	source_of "$1" | sed -n '/^# OPTIONS/,/^# [^O]/{
		/^\*-/{
			s/^\*\(-[a-zA-Z]\)\*, \*\(--[a-z0-9-]*\)\*/\2 \1/
			s/^\*\(--[a-z0-9-]*\)\*/\1/
			s/ _\([^ ]*\)_/ \1/g
			p
		}
	}' | sort
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

# commands: the names in the table of holdback.
commands() {
	"$HB_BIN" help --list | cut -f 1 | sort -u | grep -v '^-$'
}

# not_listed PAGE: commands that COMMANDS or SYNOPSIS of the page lacks, and
# entries of COMMANDS that are no commands.
not_listed() {
	source_of "$1" >"$work/page"
	sed -n '/^# COMMANDS/,/^# OPTIONS/s/^\*\([a-z]*\)\*.*/\1/p' "$work/page" |
		sort >"$work/listed"
	commands | diff - "$work/listed" | sed -n 's/^\([<>]\) /COMMANDS \1 /p'
	sed -n '/^# SYNOPSIS/,/^# DESC/p' "$work/page" >"$work/synopsis"
	for command in $(commands); do
		grep -q "\*$command\*" "$work/synopsis" ||
			echo "SYNOPSIS < $command"
	done
}

# statuses_of PAGE: the numbers under EXIT STATUS.
statuses_of() {
	source_of "$1" | sed -n \
		'/^# EXIT STATUS/,/^# [^E]/s/^|[[< ] \*\([0-9]*\)\*$/\1/p'
}

# statuses: the numbers of enum hb_exit.
statuses() {
	sed -n '/^enum hb_exit {/,/^}/s/^	HB_EXIT_[A-Z_]* = \([0-9]*\),$/\1/p' \
		"$header"
}

# unused FOLDER: members of enum hb_exit that no file of the folder names.
unused() {
	for name in $(sed -n '/^enum hb_exit {/,/^}/s/^	\(HB_EXIT_[A-Z_]*\) = .*/\1/p' \
		"$header"); do
		grep -rqw "$name" "$1" || echo "$name"
	done
}

# rendered PAGE: the text that man(1) shows of a page made by scdoc, on one long
# sheet as there, with the warnings of groff in the file `warnings`.
rendered() {
	(echo .pl 1000i && cat "$1") |
		groff -k -t -man -ww -Tutf8 -P-cbou -rHY=0 -rLL=100n \
			2>"$work/warnings"
}

# dotted: the words of a text that begin with a dot, counted, without markup.
dotted() {
	tr -d '*_\134' | grep -oE '(^|[^[:alnum:]./~-])\.[a-z][a-z]+' |
		grep -oE '\.[a-z]+' | sort | uniq -c
}

# lost_dots SOURCE MADE: how the words with a leading dot differ between both.
lost_dots() {
	dotted <"$1" >"$work/said"
	rendered "$2" | dotted >"$work/shown"
	diff "$work/said" "$work/shown"
}

# The checks find the faults they are for.
mkdir "$work/docs"
cp -r "$pages" "$work/docs/man"
copy=$work/docs/man
sed -i '/^\*sync\*$/,/^$/d; s/|\*sync\*//' "$copy/holdback.1.scd"
is 'a command that holdback(1) lacks is found' \
	"$(not_listed "$copy/holdback.1.scd")" 'COMMANDS < sync
SYNOPSIS < sync'
printf '\n*synchronise*\n\tNo such command.\n\n# OPTIONS\n' >"$work/more"
sed -i -e '/^# OPTIONS/{r '"$work/more" -e 'd}' "$copy/holdback.1.scd"
like 'an entry of holdback(1) that is no command is found' \
	"$(not_listed "$copy/holdback.1.scd")" '*COMMANDS > synchronise*'
sed -i 's/^\.exit all$/.exit 0\n.exit 2/' "$copy/holdback.1.scd"
is 'an exit status that holdback(1) lacks is found' \
	"$(statuses_of "$copy/holdback.1.scd" | tr '\n' ' ')" '0 2 '
like 'an exit status that no file returns is found' "$(unused "$copy")" \
	'*HB_EXIT_CONFLICT*'
printf 'x(1)\n\n# NAME\n\nx - y\n\n# FILES\n\nsee\n.git/hooks\n' >"$copy/x.1.scd"
check_fails 'a line that begins with a dot is refused' source_of "$copy/x.1.scd"
scdoc <"$copy/x.1.scd" >"$work/x.1"
like 'a leading dot that scdoc dropped is found' \
	"$(lost_dots "$copy/x.1.scd" "$work/x.1")" '*.git*'
printf 'x(1)\n\n# NAME\n\n.include nothing-there\n' >"$copy/x.1.scd"
check_fails 'an include of a file that does not exist is refused' \
	source_of "$copy/x.1.scd"
printf 'x(1)\n\n# NAME\n\n.exit 99\n' >"$copy/x.1.scd"
check_fails 'an exit status that the enum lacks is refused' \
	source_of "$copy/x.1.scd"
printf '.TH x 1\n.SH NAME\n.nosuch macro\n' >"$work/x.1"
rendered "$work/x.1" >"$work/text"
check 'a warning of groff is found' test -s "$work/warnings"

is 'holdback(1) lists every command and nothing else' \
	"$(not_listed "$pages/holdback.1.scd")" ''
is 'holdback(1) lists every exit status of the enum' \
	"$(statuses_of "$pages/holdback.1.scd")" "$(statuses)"
is 'src/cli returns every exit status of the enum' \
	"$(unused "$HB_SOURCE/src/cli")" ''
is 'holdback(1) has the options of every command' \
	"$(in_page "$pages/holdback.1.scd")" "$(in_table -)"
for command in $(commands); do
	page=$pages/holdback-$command.1.scd
	if [ "$command" = bwrap ]; then
		continue
	elif [ -e "$page" ]; then
		is "holdback-$command(1) has the options of $command" \
			"$(in_page "$page")" "$(in_table "$command")"
	else
		is "$command needs no page of its own" "$(in_table "$command")" ''
	fi
done

# The front end lists its own table: option, arguments, words.
bwrap_page=$pages/holdback-bwrap.1.scd
is 'holdback-bwrap(1) has the options that the front end lists' \
	"$(in_page "$bwrap_page")" \
	"$("$HB_BWRAP" --help |
		sed -n 's/^    \(--[a-z0-9-]*\( [A-Z][A-Z]*\)*\) .*/\1/p' |
		sort)"
is 'holdback-bwrap(1) has 67 options' "$(in_page "$bwrap_page" | wc -l)" 67

for page in "$pages"/*.scd; do
	name=${page##*/}
	name=${name%.scd}
	made=$HB_BUILD/man/$name
	is "$name names itself" "$(head -n 1 "$page")" "${name%.*}(${name##*.})"
	check "$name was made" test -s "$made"
	source_of "$page" >"$work/source"
	is "$name shows every leading dot" \
		"$(lost_dots "$work/source" "$made")" ''
	is "$name is read by groff without a warning" \
		"$(cat "$work/warnings")" ''
	check "$name names the page holdback(1)" \
		grep -q '^holdback(1)$\|\*holdback\*(1)' "$work/source"
	# bwrap(1) is bubblewrap's.
	for other in $(grep -o "\*[a-z.-]*\*($sections)" "$work/source" |
		sed 's/\*//g; s/(\(.\))/.\1/' | sort -u); do
		case $other in
		bwrap.1 | gitignore.5) continue ;;
		esac
		check "$name refers to the page $other" \
			test -e "$pages/$other.scd"
	done
done
for page in "$pages/holdback"[.-]*.[57].scd; do
	[ -e "$page" ] || continue
	name=${page##*/}
	name=${name%.scd}
	check "holdback(1) names $name under SEE ALSO" sh -c \
		'sed -n "/^# SEE ALSO/,\$p" "$1" | grep -qF "*$2*($3)"' \
		sh "$pages/holdback.1.scd" "${name%.*}" "${name##*.}"
done
long=$(cd "$pages" && awk '
	/^```/ { literal = !literal }
	!literal && length($0) > 100 { print FILENAME ":" FNR }' \
	*.scd common/*.scd)
is 'no line of a man page is longer than 100 columns' "$long" ''

# The keys of files: every option of run that a file may choose.
conf=$pages/holdback.conf.5.scd

# keys_in SECTION: the keys that the section of holdback.conf(5) defines.
keys_in() {
	sed -n "/^# $1/,/^# /s/^\*\([a-z-]*\)\* = .*/\1/p" "$2" | sort
}

# keys: the options of run that name no single run.
keys() {
	in_table run | sed 's/^--//; s/ .*//' |
		grep -vx 'profile\|session\|code\|continue\|directory\|json\|json-fd' |
		sort
}

# workspace_keys: the keys for which a file in the workspace may have a value.
workspace_keys() {
	mkdir "$work/tree"
	for key in $(keys); do
		for value in none yes no own 1 inside branch changes; do
			echo "$key = $value" >"$work/tree/.holdback.conf"
			(cd "$work/tree" && HOME=$work "$HB_BIN" config) \
				>/dev/null 2>&1 || continue
			echo "$key"
			break
		done
	done
	rm -r "$work/tree"
}

sed '/^\*inotify\* = /d' "$conf" >"$copy/conf"
unlike 'a key that holdback.conf(5) lacks is found' \
	"$(keys_in KEYS "$copy/conf")" "$(keys)"
is 'holdback.conf(5) defines every key of a run and no other' \
	"$(keys_in KEYS "$conf")" "$(keys)"
is 'holdback.conf(5) lists the keys that a workspace may set' \
	"$(keys_in 'WORKSPACE FILE' "$conf")" "$(workspace_keys)"
for key in profile session code; do
	mkdir -p "$work/config/holdback"
	echo "$key = x" >"$work/config/holdback/config"
	check_exit "no file may set the key $key" 3 \
		env XDG_CONFIG_HOME="$work/config" "$HB_BIN" config
done
done_testing
