#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
#
# Help, version, completion, plan: what is said, and by which executable.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'
like '--version' "$("$HB_BIN" --version)" 'holdback [0-9]*.[0-9]*'
is 'run --version' "$("$HB_BIN" run --version)" "$("$HB_BIN" --version)"

commands=$("$HB_BIN" help --list | cut -f 1 | sort -u | grep -v '^-$')
for command in $commands; do
	like "help names $command" "$("$HB_BIN" help)" "*$nl  $command *"
	[ "$command" = bwrap ] && continue
	like "$command --help" "$("$HB_BIN" "$command" --help)" \
		"usage: holdback $command*"
	is "$command -h" "$("$HB_BIN" "$command" -h)" \
		"$("$HB_BIN" help "$command")"
done
# The words of a terminal of usual width; a column is a character.
wide=$(for command in help $commands; do
	[ "$command" = bwrap ] || "$HB_BIN" help "$command"
done | python3 -c 'import sys
print(*(line for line in map(str.rstrip, sys.stdin) if len(line) > 80), sep="\n")')
is 'no line of help is wider than 80 columns' "$wide" ''
is '--help' "$("$HB_BIN" --help)" "$("$HB_BIN" help)"
is '-h' "$("$HB_BIN" -h)" "$("$HB_BIN" help)"
like 'bwrap --help is the front end'"'"'s own' "$("$HB_BIN" bwrap --help)" \
	'usage: *bwrap \[OPTIONS...\]*--ro-bind SRC DEST*'
prints 'bwrap runs' ok "$HB_BIN" bwrap --ro-bind / / --dev /dev echo ok
check_exit 'bwrap fails as bwrap does' 1 "$HB_BIN" bwrap --no-such
prints '--help ends the words' "$("$HB_BIN" run --help)" \
	"$HB_BIN" run --help --no-such

# Completion: the scripts are read by the shells they are for, if these exist.
for shell in bash zsh fish; do
	check "completion $shell" sh -c '"$1" completion "$2" >"$2"' sh \
		"$HB_BIN" "$shell"
	for word in ephemeral doctor allow-nested; do
		check "completion $shell has $word" grep -q -e "$word" "$shell"
	done
done
check 'bash reads its script' bash -n bash

# plan
check 'plan run prints a plan' sh -c \
	'"$1" plan run --ephemeral -- true | grep -q "^overlay "' sh "$HB_BIN"
is 'plan bwrap' "$("$HB_BIN" plan bwrap --ro-bind / / ls -l | head -n 1)" \
	'bind source="/" dest="/" flags=ro'
is 'plan -- is bwrap' "$("$HB_BIN" plan -- --ro-bind / / ls -l)" \
	"$("$HB_BIN" plan bwrap --ro-bind / / ls -l)"
like 'plan --json' "$("$HB_BIN" plan --json run --ephemeral true)" '{*}'
check 'plan runs nothing' \
	"$HB_BIN" plan run --ephemeral --rw . -- touch "$work/made"
check 'plan makes nothing' test ! -e made
says 'plan of something else' 2 \
	"holdback: a plan is of 'run' or of 'bwrap', not of 'ls'${nl}fix: holdback plan run -- ls" \
	"$HB_BIN" plan ls
says 'plan of nothing' 2 "holdback: 'plan' needs an operand*" "$HB_BIN" plan
says 'plan with a bad option' 2 \
	"holdback: unknown option '--epemeral'${nl}fix: did you mean '--ephemeral'?" \
	"$HB_BIN" plan run --epemeral ls
says 'plan with a bad bwrap option' 2 'holdback: Unknown option --no-such' \
	"$HB_BIN" plan bwrap --no-such ls

# The executables find each other.
ln -s "$HB_BIN" a-link
is 'through a link' "$(./a-link --version)" "$("$HB_BIN" --version)"
cp "$HB_BIN" alone
says 'an executable without the others' 70 \
	"holdback: cannot execute '$work/../libexec/holdback/commands': *${nl}fix: install holdback whole*" \
	./alone --version
prints 'still runs commands' ok ./alone --ephemeral echo ok

check 'a full disk is not overlooked' sh -c '! "$1" help >/dev/full' sh "$HB_BIN"
done_testing
