#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: strace
#
# A commit that was interrupted: who looks says so and changes nothing, who goes
# on finishes it, who throws away takes it back, in one line and once.
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

# tree: what the real directory is, in one word.
tree() {
	case $(cd "$project" && cat f g d/new 2>/dev/null | tr '\n' ' ') in
	'f g ') echo old ;;
	'f more new ') echo new ;;
	*) echo mixed ;;
	esac
}

# member NAME COMMAND...: of the session in a document.
member() {
	member_name=$1
	shift
	hb "$@" --json | python3 -c 'import json, sys
d = json.load(sys.stdin)
s = d["session"] if "session" in d else d["sessions"][0]
print(s.get(sys.argv[1]))' "$member_name"
}

interrupt
before=$(digest "$work" && find "$state" | sort)
like 'status says that a commit was interrupted, and how it goes on' "$(hb status @s)" \
	'*
commit interrupted: holdback recover @s finishes it, holdback recover --back @s takes it back
*'
like 'ls says it' "$(hb ls)" '*commit interrupted'
is 'the document of status says that a commit was interrupted' "$(member interrupted status @s)" commit
is 'the document of ls says that a commit was interrupted' "$(member interrupted ls)" commit
for command in diff 'diff --name-status' 'diff --stat' gate; do
	# shellcheck disable=SC2086 # words
	check_exit "$command has nothing to show that would be true" 10 hb $command @s
	like 'it says why, and how it goes on' "$tap_output" \
		"*session 's': commit interrupted
fix: holdback recover @s finishes it; holdback recover --back @s takes it back"
done
is 'none of them has changed anything' "$(digest "$work" && find "$state" | sort)" "$before"

# One that has a file to be published as well: that waits for its end.
mkdir -m 700 "$state/pending"
: >"$state/pending/s"
: >"$state/sessions/s/publish"
before=$(digest "$work" && find "$state" | sort)
for command in ls 'status @s' 'diff @s' 'gate @s'; do
	# shellcheck disable=SC2086 # words
	unlike "$command recovers nothing where a file waits to be published" "$(hb $command 2>&1)" '*finished*'
done
is 'a look publishes nothing of a session that was interrupted' \
	"$(digest "$work" && find "$state" | sort)" "$before"
rm -r "$state/pending" "$state/sessions/s/publish"

for command in 'exec @s -- true' 'commit -y @s' 'recover @s'; do
	interrupt
	# shellcheck disable=SC2086 # words
	says "${command%% *} finishes it and says so" "$finished" $command
	is 'the tree is the new one' "$(tree)" new
	is 'a finished commit is not told again' "$(hb status @s 2>&1 | grep -c interrupted)" 0
	is 'nothing is pending' "$(names)" ''
done
interrupt
says 'undo finishes it before it takes it back' "$finished" undo @s
is 'then the tree is the old one' "$(tree)" old

interrupt
says 'rollback takes it back and says so' "$reversed" rollback -y @s
is 'the tree is the old one' "$(tree)" old
is 'nothing is pending' "$(names)" ''
interrupt
says 'cleanup takes it back and says so' "$reversed" cleanup -y @s
is 'the tree is the old one' "$(tree)" old
check_exit 'cleanup of an interrupted commit removes the session' 9 hb status @s
interrupt
says 'recover --back reverses it and says so' "$reversed" recover --back @s
is 'then the tree is the old one' "$(tree)" old
is 'recover --back leaves everything pending' "$(names)" 'A d/new,M f,D g,'

# cut COMMAND: an undo, redo or rollback that is killed half-way.
cut() {
	for number in 1 2 3 4 5 6 7 8 9 10 11 12; do
		new_session 'echo f >f; echo g >g; mkdir d'
		in_box 'echo more >>f; rm g; echo new >d/new'
		[ "$1" = rollback ] || hb commit -y @s >/dev/null
		[ "$1" != redo ] || hb undo @s >/dev/null
		yes=
		[ "$1" != rollback ] || yes=-y
		strace -f -qq -o /dev/null -e trace=renameat2 \
			-e inject=renameat2:signal=KILL:when="$number" \
			"$HB_BIN" "$1" --state-dir "$state" $yes @s >/dev/null 2>&1
		[ ! -e "$state/sessions/s/journal" ] || return 0
	done
	bail "no $1 could be interrupted"
}

for command in undo redo rollback; do
	cut "$command"
	like "status says that the $command was interrupted" "$(hb status @s)" \
		"*$command interrupted: *"
	hb rollback -y @s >/dev/null 2>&1
	is "after a rollback the tree is the old one, whichever way an $command goes" \
		"$(tree)" old
	is 'nothing is pending' "$(names)" ''
done
finish
