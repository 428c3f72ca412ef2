#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: strace
#
# Whichever command finds an interrupted commit finishes it and says so, in one
# line and once.
. "$HB_TESTS/lib/txn.sh"

# interrupt: a commit that is killed after its plan was on disk, so that the
# next command has something to finish.
interrupt() {
	for number in 1 2 3 4 5 6 7 8 9 10 11 12; do
		new_session 'echo f >f; echo g >g; mkdir d'
		in_box 'echo more >>f; rm g; echo new >d/new'
		strace -f -qq -o /dev/null -e trace=renameat2 \
			-e inject=renameat2:signal=KILL:when="$number" \
			"$HB_BIN" commit --state-dir "$state" -y @s >/dev/null 2>&1
		[ ! -e "$state/sessions/s/journal" ] || return 0
	done
	bail 'no commit could be interrupted'
}

finished='holdback: session .s.: an interrupted change was finished'
reversed='holdback: session .s.: an interrupted change was reversed'

# says NAME PATTERN COMMAND...: just one line of what it says on stderr fits.
says() {
	name=$1
	pattern=$2
	shift 2
	is "$name" "$(hb "$@" 2>&1 >/dev/null | grep -c "^$pattern\$")" 1
}

for command in 'status @s' 'diff --name-status @s' 'exec @s -- true' \
	'commit -y @s' 'undo @s' 'rollback -y @s' 'recover @s'; do
	interrupt
	# shellcheck disable=SC2086 # words
	says "${command%% *} finishes it and says so" "$finished" $command
	is 'and nobody says it again' "$(hb status @s 2>&1 | grep -c interrupted)" 0
done
interrupt
says 'recover --back reverses it and says so' "$reversed" recover --back @s
is 'then the tree is the old one' "$(cat "$project/f")$(cat "$project/g")" fg
is 'and everything is pending' "$(names)" 'A d/new,M f,D g,'
interrupt
hb status @s >/dev/null 2>&1
is 'what was finished is the new tree' \
	"$(cat "$project/f" "$project/d/new")" "$(printf 'f\nmore\nnew')"
is 'and nothing is pending' "$(names)" ''
finish
