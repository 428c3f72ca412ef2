#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# Other processes: the supervisor, and pid 1 of the box.  Those of the host are in
# the table `vectors`.
. "$HB_TESTS/lib/box.sh"

# A process of init's had the second, and is gone.
says 'V5 inside only the box has pids' '1 3 self 3' inside ./probe pids
like 'control: outside there are others' "$(./probe pids)" "* $$ *"

# pid 1: its memory, root, descriptors, environment and program.
# The second time without landlock, which would keep them apart by itself.
look_into_init() {
	for file in environ mem maps auxv; do
		says "V5 $1 /proc/1/$file cannot be opened" EACCES \
			"$2" ./probe open r "/proc/1/$file"
	done
	for file in stack syscall; do
		check_fails "V5 $1 /proc/1/$file cannot be read" \
			"$2" cat "/proc/1/$file"
	done
	for file in root cwd exe task/1/root; do
		says "V5 $1 /proc/1/$file leads nowhere" EACCES \
			"$2" ./probe open path "/proc/1/$file"
	done
	# Root finds the names of the descriptors, as root owns the directory.
	says "V5 $1 no descriptor of pid 1 leads anywhere" EACCES "$2" sh -c \
		'for n in 0 1 2 3 4 5 6 7 8 9; do
			./probe open path /proc/1/fd/$n
		done | grep -v ENOENT | sort -u'
	check_fails "V5 $1 /proc/1/map_files cannot be listed" \
		"$2" sh -c 'ls /proc/1/map_files | grep .'
	says "V3 $1 /proc/1/exe cannot be written" EACCES \
		"$2" ./probe open w /proc/1/exe
	says "V6 $1 pid 1 cannot be traced" EPERM "$2" ./probe ptrace 1
}
without_landlock() {
	denying landlock_create_ruleset ENOSYS -- \
		"$HB_BIN" run --ephemeral -q -- "$@" 2>/dev/null
}
look_into_init 'as it is:' inside
look_into_init 'without landlock:' without_landlock
says 'control: the own environment can be read' allowed \
	inside ./probe open r /proc/self/environ
says 'control: the own root can be opened' allowed \
	inside ./probe open path /proc/self/root
says 'V6 a debugger can be taken away' EPERM \
	"$HB_BIN" run --ephemeral -q --no-ptrace -- ./probe ptrace-child

# Nothing in the box ends or stops its pid 1.
for signal in KILL STOP TERM INT HUP QUIT USR1 ABRT SEGV; do
	says "SIG$signal does nothing to pid 1" alive \
		inside sh -c "kill -$signal 1 2>/dev/null; echo alive"
done

# V7: with pipes for 0-2 the box shares our process group.
if [ "$(landlock_version)" -ge 6 ]; then
	says 'V7 kill 0 ends the command and stays in the box' 'alive 137' sh -c \
		'{ "$HB_BIN" run --ephemeral -q -- sh -c "kill -9 0" </dev/null; echo $? >v7; } 2>/dev/null |
			cat; echo alive "$(cat v7)"; rm v7'
	status=0
	(
		trap 'exit 9' USR1
		inside sh -c 'trap "" USR1; kill -USR1 0; exit 4' </dev/null
	) || status=$?
	is 'V7 a signal for the group does not reach the caller' "$status" 4
else
	skip 'V7 kill 0 stays in the box' 'landlock has no signal scope'
fi
done_testing
