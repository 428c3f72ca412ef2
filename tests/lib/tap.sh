# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# TAP for shell tests.  A test file begins with
#
#	#!/bin/sh
#	# modes: user root userns        (optional; this is the default)
#	# soak-modes: userns             (optional; of these, only for make soak)
#	# needs: bwrap python3           (optional; commands it cannot do without)
#	# serial                         (optional; nothing else runs meanwhile)
#	# timeout: 600                   (optional; seconds, 300 otherwise)
#	. "$HB_TESTS/lib/tap.sh"
#
# and ends with done_testing.  Every check is one test point, and a failed one
# prints what was found.  A file that dies before done_testing has no plan, and
# the runner counts that as a failure.

set -u
tap_count=0
tap_failed=0

# tap_result STATUS NAME: one test point.
tap_result() {
	tap_count=$((tap_count + 1))
	if [ "$1" -eq 0 ]; then
		printf 'ok %d - %s\n' "$tap_count" "$2"
		return 0
	fi
	tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n' "$tap_count" "$2"
	return 0
}

# note TEXT...: lines for the reader of a failure.
note() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

pass() {
	tap_result 0 "$1"
}

# fail NAME [TEXT...]
fail() {
	tap_result 1 "$1"
	shift
	[ $# -eq 0 ] || note "$@"
}

# check NAME COMMAND...: the command succeeds.  Its output is shown if not.
check() {
	tap_name=$1
	shift
	tap_status=0
	tap_output=$("$@" 2>&1) || tap_status=$?
	tap_result "$tap_status" "$tap_name"
	[ "$tap_status" -eq 0 ] || note "exit status $tap_status of: $*
$tap_output"
}

# check_fails NAME COMMAND...: the command does not succeed.
check_fails() {
	tap_name=$1
	shift
	tap_status=0
	tap_output=$("$@" 2>&1) || tap_status=$?
	if [ "$tap_status" -ne 0 ]; then
		pass "$tap_name"
	else
		fail "$tap_name" "succeeded: $*
$tap_output"
	fi
}

# check_exit NAME STATUS COMMAND...: the command ends with that very status.
check_exit() {
	tap_name=$1
	tap_want=$2
	shift 2
	tap_status=0
	tap_output=$("$@" 2>&1) || tap_status=$?
	if [ "$tap_status" -eq "$tap_want" ]; then
		pass "$tap_name"
	else
		fail "$tap_name" "exit status $tap_status, expected $tap_want: $*
$tap_output"
	fi
}

# is NAME GOT WANT: two strings are the same.
is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" "     got: $2
expected: $3"
	fi
}

# like NAME TEXT PATTERN: the text matches a shell pattern.
like() {
	# shellcheck disable=SC2254 # the third argument is a pattern
	case $2 in
	$3) pass "$1" ;;
	*)
		fail "$1" "     got: $2
expected: $3"
		;;
	esac
}

# unlike NAME TEXT PATTERN
unlike() {
	# shellcheck disable=SC2254 # the third argument is a pattern
	case $2 in
	$3)
		fail "$1" "         got: $2
not expected: $3"
		;;
	*) pass "$1" ;;
	esac
}

# skip NAME REASON: one test point that this host cannot show.
skip() {
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$1" "$2"
}

# skip_all REASON: the file says nothing on this host.  Only before any check.
skip_all() {
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}

# bail REASON: the rest of the file makes no sense.
bail() {
	printf 'Bail out! %s\n' "$1"
	exit 1
}

# wait_until COMMAND...: succeeds as soon as the command does, fails after 30 s.
wait_until() {
	tap_tries=0
	until "$@" >/dev/null 2>&1; do
		tap_tries=$((tap_tries + 1))
		[ "$tap_tries" -lt 1500 ] || return 1
		sleep 0.02
	done
}

# done_testing: the plan, and the exit status of the file.
done_testing() {
	printf '1..%d\n' "$tap_count"
	[ "$tap_failed" -eq 0 ]
	exit
}
