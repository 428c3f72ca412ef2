#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: strace
#
# What fails late in a commit: while it is recorded what was seen, and after
# everything is in place.
. "$HB_TESTS/lib/txn.sh"

seen=$state/sessions/s/r0/seen
# Made when the journal begins, and written at its end: the second time.
done_new=$state/sessions/s/journal.done.new

# faulty PATH CALL ERROR WHEN COMMAND...: that call on that path fails, or by
# its last name, which is how it is opened.
faulty() {
	fault_path=$1
	fault_call=$2
	fault_rule=$3:when=$4
	shift 4
	fault_command=$1
	shift
	(cd "$project" && exec strace -f -qq -o /dev/null \
		-P "$fault_path" -P "${fault_path##*/}" \
		-e trace="$fault_call" -e inject="$fault_call:error=$fault_rule" \
		"$HB_BIN" "$fault_command" --state-dir "$state" "$@")
}

# count KEY: a number of the summary.
count() {
	hb status --json @s | python3 -c \
		'import json, sys; print(json.load(sys.stdin)["summary"][sys.argv[1]])' "$1"
}

prepare() {
	new_session 'echo f >f; echo g >g; mkdir d'
	in_box 'echo more >>f; rm g; echo new >d/new'
}

new=$(printf 'f\nmore\nnew')
for error in ENOSPC EIO ENOMEM; do
	for call in openat ftruncate fallocate pwrite64; do
		for number in 1 2; do
			[ "$call$number" != fallocate2 ] || continue
			prepare
			status=0
			faulty "$seen" "$call" "$error" "$number" commit -y @s >/dev/null 2>&1 ||
				status=$?
			is "a commit with $error at $call $number of 'seen' leaves no conflict" \
				"$(count conflicts)" 0
			[ "$status" -eq 0 ] || is 'one that failed has changed nothing' \
				"$(cat "$project/f" "$project/g")" "$(printf 'f\ng')"
			check 'the next one works' hb commit -y @s
			is 'the commit after a fault brings everything' "$(cat "$project/f" "$project/d/new")" "$new"
		done
	done
done

prepare
printf 'something else' >"$seen"
check "a 'seen' with another head stops nothing" hb commit -y @s
is 'the changes are there' "$(cat "$project/f" "$project/d/new")" "$new"

prepare
check_exit 'without room for its end a commit does not begin' 7 \
	faulty "$done_new" openat ENOSPC 1+ commit -y @s
is 'a commit that does not begin changes nothing' "$(cat "$project/f" "$project/g")" "$(printf 'f\ng')"
check "a commit whose end cannot be recorded is no failure" \
	faulty "$done_new" openat EIO 2+ commit -y @s
like 'it says that the changes are in place' "$tap_output" \
	'*the changes are in place; the next command completes the record*'
is 'they are' "$(cat "$project/f" "$project/d/new")" "$new"
check 'recover completes the record' hb recover @s
is 'nothing is pending then' "$(names)" ''
check 'undo takes a completed commit back' hb undo @s
is 'to the old tree' "$(cat "$project/f" "$project/g")" "$(printf 'f\ng')"

prepare
is 'a document says that the record is not complete' \
	"$(faulty "$done_new" openat EIO 2+ commit --json -y @s 2>/dev/null |
		python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["committed"], d["complete"])')" \
	'True False'
hb recover @s >/dev/null 2>&1
is 'a document says that the record is complete' "$(hb undo --json @s |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["complete"])')" True

prepare
check 'a record that fails once is completed by the same command' \
	faulty "$done_new" openat ENOSPC 2 commit -y @s
unlike 'nothing is said then' "$tap_output" '*in place*'

prepare
check 'a rollback whose end cannot be recorded is no failure' \
	faulty "$done_new" openat EIO 2+ rollback -y @s
like 'rollback says that the changes are discarded' "$tap_output" \
	'*the changes are discarded; the next command completes the record*'
hb recover @s >/dev/null 2>&1
is 'nothing is pending' "$(names)" ''

# What was undone can be redone until something else is in effect.
prepare
hb commit -y @s >/dev/null
hb undo @s >/dev/null
check_exit 'a rollback of a path that is not pending is refused' 2 hb rollback -y nothing
check_fails 'a commit fails while it is planned' \
	faulty "$state/sessions/s/journal.new" openat EIO 1+ commit -y @s
check 'what was undone before them can still be redone' hb redo @s
is 'with all of it' "$(cat "$project/f" "$project/d/new")" "$new"
finish
