# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# For tests that look at a box from inside.  A test starts in an empty
# directory, $work, which is its workspace and removed at the end.

. "$HB_TESTS/lib/tap.sh"
. "$HB_TESTS/lib/processes.sh"

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

# landlock_version: 0 if this kernel has none.
landlock_version() {
	python3 -c 'import ctypes
print(max(0, ctypes.CDLL(None).syscall(444, None, 0, 1)))'
}
