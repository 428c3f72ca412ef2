#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What a command costs, in system calls: it grows with what changed, and not
# with what is there.
. "$HB_TESTS/lib/txn.sh"

strace -o "$TMPDIR/calls" true 2>/dev/null || skip_all 'nothing can be traced here'

# calls KIND COMMAND ARGUMENT...: how many of that kind it makes.  Whatever kind
# is asked for, strace shows calls that it has no name for, too.
calls() {
	calls_kind=$1
	calls_command=$2
	shift 2
	(cd "$project" && exec strace -f -qq -e "trace=$calls_kind" -e signal=none \
		-o "$TMPDIR/calls" "$HB_BIN" "$calls_command" --state-dir "$state" \
		"$@") >/dev/null
	calls_name=$calls_kind
	[ "$calls_kind" != all ] || calls_name='[a-z0-9_]*'
	grep -c "^[0-9]* *$calls_name(" "$TMPDIR/calls"
}

# changed COUNT: a session with so many files, all of them changed.
changed() {
	new_session "mkdir d; for i in \$(seq $1); do echo old >d/\$i; done"
	in_box "for i in \$(seq $1); do echo new >d/\$i; done"
}

for n in 10 300; do
	changed "$n"
	hb commit -y @s >/dev/null
	hb undo @s >/dev/null
	calls all rollback -y @s >"$TMPDIR/rollback.$n"
done
is 'rollback takes as many calls for 300 changes as for 10' \
	"$(cat "$TMPDIR/rollback.300")" "$(cat "$TMPDIR/rollback.10")"

# Each directory once before the journal, and once after what was moved.
changed 10
check 'rollback waits for the disk 18 times, or less' \
	[ "$(calls fsync rollback -y @s)" -le 18 ]

for n in 10 3000; do
	new_session "mkdir \$(seq $n)"
	calls getdents64 exec @s -- true >"$TMPDIR/exec.$n"
done
is 'exec lists as much where there are 3000 names as where there are 10' \
	"$(cat "$TMPDIR/exec.3000")" "$(cat "$TMPDIR/exec.10")"

# Between two sizes, so that what every command does falls out.
for n in 300 400; do
	changed "$n"
	for time in first again; do
		calls all diff --name-status @s >"$TMPDIR/diff.$time.$n"
	done
	calls statx commit -y @s >"$TMPDIR/diff.commit.$n"
done
each() {
	echo $((($(cat "$TMPDIR/diff.$1.400") - $(cat "$TMPDIR/diff.$1.300")) / 100))
}
is 'diff compares a file in 9 calls' "$(each first)" 9
is 'diff looks at an unchanged file in 2 calls' "$(each again)" 2
# Two of these are the gate's and the last look before the commit point.
check 'commit looks 12 times at a file, or less' [ "$(each commit)" -le 12 ]

# Before the box in the base, after it in the layer; the directory is listed.
for n in 300 400; do
	new_session "mkdir d; for i in \$(seq $n); do echo old >d/\$i; done"
	in_box 'touch d/*'
	in_box true
	calls all exec @s -- true >"$TMPDIR/diff.touched.$n"
done
is 'a later command looks twice at a file that was touched' "$(each touched)" 2

# What goes past the area of the run path's own heap is a call each.
check 'a run among real files asks for memory 50 times, or less' \
	[ "$(calls mmap run --direct -q -- true)" -le 50 ]

rm -f "$TMPDIR"/diff.*
rm -f "$TMPDIR"/calls "$TMPDIR"/rollback.* "$TMPDIR"/exec.*
finish
