# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# For tests that look at a box from inside.  A test starts in an empty
# directory, $work, which is its workspace and removed at the end.

. "$HB_TESTS/lib/tap.sh"

work=$(mktemp -d)
cd "$work" || bail "no directory to work in"
trap 'cd / && chmod -R u+rwx "$work" && rm -rf "$work"' EXIT
cp "$HB_PROBE" probe

# inside COMMAND...: in a box, with the workspace in memory.
inside() {
	"$HB_BIN" run --ephemeral -q -- "$@"
}

# denying RULES... -- COMMAND...: where system calls fail; tests/probe/deny.c.
denying() {
	"$HB_PROBE" deny "$@"
}

# says NAME WANT COMMAND...: the command prints just that, on either stream.
says() {
	says_name=$1
	says_want=$2
	shift 2
	says_got=$("$@" 2>&1)
	is "$says_name" "$says_got" "$says_want"
}

# stopped NAME PATTERN COMMAND...: the run fails with 125, says so and why, and
# the command, which would print "ran", does not.
stopped() {
	stopped_name=$1
	stopped_want=$2
	shift 2
	stopped_status=0
	stopped_got=$("$@" 2>&1) || stopped_status=$?
	# shellcheck disable=SC2254 # a pattern
	case "$stopped_status:$stopped_got" in
	*ran*) fail "$stopped_name" "the command ran: $stopped_got" ;;
	125:*$stopped_want*) pass "$stopped_name" ;;
	*)
		fail "$stopped_name" "status and output: $stopped_status:$stopped_got
expected: 125:*$stopped_want*"
		;;
	esac
}

# below PID: the pids of all its descendants, parents before their children.
below() {
	ps -e -o pid=,ppid= | awk -v top="$1" '
		{ pids[NR] = $1; parent[$1] = $2 }
		END {
			found[top] = 1
			do {
				n = 0
				for (i = 1; i <= NR; i++)
					if (!(pids[i] in found) && parent[pids[i]] in found) {
						found[pids[i]] = 1
						print pids[i]
						n++
					}
			} while (n)
		}'
}

# state PID: the letter that ps shows; nothing if there is no such process.
state() {
	sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null
}

# are_gone PID...
are_gone() {
	for gone_pid; do
		[ ! -d "/proc/$gone_pid" ] || [ "$(state "$gone_pid")" = Z ] ||
			return 1
	done
}

# landlock_version: 0 if this kernel has none.
landlock_version() {
	python3 -c 'import ctypes
print(max(0, ctypes.CDLL(None).syscall(444, None, 0, 1)))'
}
