#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: strace
# timeout: 300
#
# A session that has lost directories, all of them or one while something is
# unfinished, can be looked at and thrown away, and loses nothing by that.
. "$HB_TESTS/lib/txn.sh"

other=$work/o

# two: a session on the project and on another directory, with changes in both.
two() {
	remove_all
	mkdir -p "$project" "$other"
	echo f >"$project/f"
	echo g >"$other/g"
	hb create s --cow "$project" --cow "$other" >/dev/null
	in_box "echo more >>f; echo n >n; echo more >>$other/g; echo n >$other/n"
}

all="M $project/f,A $project/n,M $other/g,A $other/n,"

# at COMMAND ARGUMENT...: from a directory that is there.
at() {
	at_command=$1
	shift
	(cd "$work" && exec "$HB_BIN" "$at_command" --state-dir "$state" "$@")
}

away() { mv "$other" "$work/away"; }
back() { mv "$work/away" "$other"; }
all_away() { mv "$project" "$work/p.away" && away; }
all_back() { mv "$work/p.away" "$project" && back; }

# refuses NAME STATUS COMMAND...: it names a directory that is gone, and a fix.
refuses() {
	refuses_name=$1
	refuses_status=$2
	shift 2
	check_exit "$refuses_name: the status" "$refuses_status" "$@"
	like "$refuses_name: the words" "$("$@" 2>&1)" "*the directory '$work/*' is gone*fix: *"
}

# crash SCRIPT: a command in the session that is killed with its supervisor.
crash() {
	(cd "$project" && exec "$HB_BIN" exec --state-dir "$state" @s -- \
		sh -c "$1; echo ready; exec sleep 60") >"$TMPDIR/out" 2>/dev/null &
	crash_pid=$!
	wait_until grep -q ready "$TMPDIR/out"
	kill -9 "$crash_pid"
	wait "$crash_pid" 2>/dev/null
	rm "$TMPDIR/out"
	wait_until sh -c '"$0" ls --state-dir "$1" | grep -q "^s  *crashed"' "$HB_BIN" "$state"
}

# looks SAY: all that only looks works, and says which directory is gone.
looks() {
	check "ls works: $1" at ls
	like "status says which directory is gone: $1" "$(at status @s 2>/dev/null)" "*
gone: $other
*"
	is "status names what is pending in it: $1" \
		"$(at status @s 2>/dev/null | grep "^pending, directory gone: $other/[gn]$" | sort)" \
		"pending, directory gone: $other/g
pending, directory gone: $other/n"
	check "diff works: $1" at diff @s
	like "diff says that it is gone: $1" "$({ at diff @s >/dev/null; } 2>&1)" \
		"*'$other' is gone: its pending changes are kept*"
	check "diff --name-status works: $1" at diff --name-status @s
	check "gate works: $1" at gate @s
	check "verify works: $1" at verify @s
}

if [ "${1:-}" = --mounted ]; then
	mount --bind "$state" "$state" && mount -o remount,bind,ro "$state" ||
		skip_all 'nothing can be mounted read-only here'
	looks 'the store is mounted read-only'
	done_testing
fi

for HB_STRATEGY in overlay copy_on_write; do
	export HB_STRATEGY

	# All directories.
	two
	all_away
	before=$(digest "$state/sessions/s/r0" "$state/sessions/s/r1")
	looks "without any directory ($HB_STRATEGY)"
	like "status names the other one as well ($HB_STRATEGY)" "$(at status @s)" "*
gone: $project
*"
	is "--json names what is pending in each ($HB_STRATEGY)" \
		"$(at status --json @s | python3 -c 'import json, sys
print(*sorted(g["source"].rsplit("/", 1)[1] + ":" + g["path"] for g in json.load(sys.stdin)["gone"]))')" 'o:g o:n p:f p:n'
	for command in commit undo redo mark rollback; do
		case $command in
		commit | rollback) set -- $command -y @s ;;
		mark) set -- mark @s m ;;
		*) set -- $command @s ;;
		esac
		refuses "$command without any directory ($HB_STRATEGY)" 10 at "$@"
	done
	refuses "exec without any directory ($HB_STRATEGY)" 125 at exec @s -- true
	is "the layers are as they were ($HB_STRATEGY)" "$before" \
		"$(digest "$state/sessions/s/r0" "$state/sessions/s/r1")"
	all_back
	is "all is pending when all are back ($HB_STRATEGY)" "$(names)" "$all"
	check "commit when all are back ($HB_STRATEGY)" hb commit -y @s
	is "a commit has all ($HB_STRATEGY)" "$(cat "$project/n" "$other/n" "$other/g" | tr '\n' ' ')" 'n n g more '
	all_away
	refuses "undo of a commit without any directory ($HB_STRATEGY)" 10 at undo @s
	all_back
	check "undo when all are back ($HB_STRATEGY)" hb undo @s
	all_away
	check "cleanup without any directory ($HB_STRATEGY)" at cleanup -y @s
	is "the session is removed ($HB_STRATEGY)" "$(at ls)" ''

	# All directories, and a command was killed before.
	two
	crash "echo k >k; echo k >$other/k"
	all_away
	looks "crashed, and without any directory ($HB_STRATEGY)"
	refuses "commit, crashed, and without any directory ($HB_STRATEGY)" 10 at commit -y @s
	all_back
	is "nothing is lost, crashed, when all are back ($HB_STRATEGY)" "$(names 2>/dev/null)" \
		"M $project/f,A $project/k,A $project/n,M $other/g,A $other/k,A $other/n,"
	crash true
	all_away
	check "cleanup, crashed, and without any directory ($HB_STRATEGY)" at cleanup -y @s

	# One of them.
	two
	crash "echo k >k; echo k >$other/k"
	away
	looks "crashed, and without one ($HB_STRATEGY)"
	is "the rest is pending, crashed, and without one ($HB_STRATEGY)" "$(names 2>/dev/null)" \
		"M $project/f,A $project/k,A $project/n,"
	check "commit of the rest, crashed, and without one ($HB_STRATEGY)" hb commit -y @s
	is "the rest is committed ($HB_STRATEGY)" "$(cat "$project/k")" k
	refuses "a commit of nothing else ($HB_STRATEGY)" 10 hb commit -y @s
	check "undo of the rest ($HB_STRATEGY)" hb undo @s
	check "a command on the rest ($HB_STRATEGY)" in_box 'echo x >x'
	check "rollback of the rest ($HB_STRATEGY)" hb rollback -y @s
	back
	is "the killed command's changes are there when it is back ($HB_STRATEGY)" "$(names 2>/dev/null)" \
		"M $other/g,A $other/k,A $other/n,"
	is "the view has them ($HB_STRATEGY)" "$(in_box "cat $other/k; cat f")" 'k
f'
	check "commit of them ($HB_STRATEGY)" hb commit -y @s
	is "they are committed ($HB_STRATEGY)" "$(cat "$other/k")" k

	# It is back before anything else is done.
	two
	crash "echo k >k; echo k >$other/k"
	away
	check "a look ($HB_STRATEGY)" hb status @s
	crash "echo l >l" 2>/dev/null
	back
	is "both killed commands' changes are there ($HB_STRATEGY)" "$(names 2>/dev/null)" \
		"M $project/f,A $project/k,A $project/l,A $project/n,M $other/g,A $other/k,A $other/n,"
	crash true
	away
	check "cleanup, crashed, and without one ($HB_STRATEGY)" hb cleanup -y @s
	back
done
HB_STRATEGY=

# interrupt CALL FILE COMMAND...: kills it at the first such call after which the
# session has this file, or this line in its record.
interrupt() {
	interrupt_call=$1 interrupt_test=$2
	shift 2
	for number in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
		two
		(cd "$project" && exec strace -f -qq -o /dev/null -e trace="$interrupt_call" \
			-e inject="$interrupt_call":signal=KILL:when="$number" \
			"$HB_BIN" "$@") >/dev/null 2>&1
		! sh -c "$interrupt_test" sh "$state/sessions/s" || return 0
	done
	bail 'no command could be interrupted'
}

# A mark that is half made.
for call in mkdirat renameat2 fsync; do
	interrupt "$call" 'grep -q "^freezing = yes" "$1/session"' mark --state-dir "$state" @s m
	away
	looks "a mark is half made ($call)"
	refuses "rollback of what is marked in it ($call)" 10 hb rollback -y @s
	back
	is "all is pending after a mark that was half made ($call)" "$(names)" "$all"
	check "rollback to a mark that was half made ($call)" hb rollback -y --to m @s
	is "the mark has all ($call)" "$(names)" "$all"
	check "commit of a mark that was half made ($call)" hb commit -y @s
	is "the mark is committed ($call)" "$(cat "$project/n" "$other/n" | tr '\n' ' ')" 'n n '
done

# A commit that is half done.
interrupt renameat2 'test -e "$1/journal"' commit --state-dir "$state" -y @s
before=$(digest "$state/sessions/s/r0" "$state/sessions/s/r1" "$project")
away
check 'ls works with a journal' at ls
like 'status with a journal says which directory is gone' "$(at status @s)" "*
commit interrupted: *
gone: $other
pending, directory gone: $other/*
*"
for command in 'diff @s' 'commit -y @s' 'rollback -y @s' 'recover @s' 'recover --back @s' 'undo @s'; do
	# shellcheck disable=SC2086 # words
	refuses "$command with a journal" 10 at $command
done
is 'a journal waits for the directory' "$(digest "$state/sessions/s/r0" "$state/sessions/s/r1" "$project")" "$before"
back
check 'the fix of a journal works' hb recover --back @s
is 'all is pending after a journal was reversed' "$(names)" "$all"
interrupt renameat2 'test -e "$1/journal"' commit --state-dir "$state" -y @s
away
check 'cleanup with a journal' hb cleanup -y @s
back

# A run's own session, whose project is gone.
remove_all
mkdir -p "$project"
export XDG_STATE_HOME="$state"
state=$state/holdback
(cd "$project" && exec "$HB_BIN" run -q -- sh -c 'echo n >n') >/dev/null 2>&1 </dev/null
name=$(at ls | awk '{ print $1; exit }')
mv "$project" "$work/p.away"
refuses 'exec without the project of a run' 125 at exec "@$name" -- true
refuses 'run -s without the project of a run' 125 sh -c 'cd "$1" && exec "$2" run -s "$3" -- true' sh "$work" "$HB_BIN" "$name"
like 'status without the project of a run' "$(at status "@$name")" "*
gone: $project
*"
mv "$work/p.away" "$project"
is 'run -s when the project is back' \
	"$(cd "$project" && "$HB_BIN" run -q -s "$name" -- cat n </dev/null 2>/dev/null)" n
mv "$project" "$work/p.away"
check 'the other fix, cleanup, works' at cleanup -y "@$name"
remove_all
state=$TMPDIR/state
unset XDG_STATE_HOME

# A look needs to write nothing.
two
away
looks 'nothing is unfinished'
is 'a look makes no stand-in' "$(find "$state/sessions/s" -maxdepth 1 -name 'g*')" ''
back
crash "echo k >k; echo k >$other/k"
away
out=$(unshare --mount --map-root-user sh "$0" --mounted 2>&1)
count=$(printf '%s\n' "$out" | grep -c '^ok')
case $out in
*'# SKIP'*) skip 'a look at a store that is mounted read-only' 'nothing can be mounted so' ;;
*'not ok'*) fail 'a look at a store that is mounted read-only' "$out" ;;
*) is 'a look at a store that is mounted read-only' "$count" 8 ;;
esac
back
is 'nothing is lost by a look at a store that is mounted read-only' "$(names 2>/dev/null)" \
	"M $project/f,A $project/k,A $project/n,M $other/g,A $other/k,A $other/n,"
finish
