#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# usage: tool-proxy.sh COMMAND [ARGUMENT...]
#
# Runs one tool call of an agent runtime, in a sandbox if a variable says so.
# The words of the command are passed on as they are.
#
#   YAMTAM_SANDBOX_MODE=1, YAMTAM_BWRAP_SANDBOX=1
#                            in a sandbox; with neither, the command itself
#   YAMTAM_SANDBOX_ROOTDIR   the project; default: the working directory
#   YAMTAM_SANDBOX_WRITEDIR  a directory of the project, made if it is missing,
#                            in which writes are real
#   YAMTAM_SANDBOX_STRICT=0  weaker where the host has no namespaces; else
#                            nothing runs there
#   HOLDBACK_SESSION         the session that keeps changes; default: none does
#
# The status is that of the command, 4 for words or variables that cannot be
# used, or 6 if there is no sandbox.  In both cases the command did not run.

fail() {
	status=$1
	shift
	printf 'tool-proxy: %s\n' "$*" >&2
	exit "$status"
}

# is_on NAME VALUE: a switch is 1, 0 or empty.
is_on() {
	case $2 in
	1) return 0 ;;
	0 | '') return 1 ;;
	esac
	fail 4 "$1 is neither 0 nor 1: nothing was run"
}

# make_below ROOT RELATIVE: each component is a directory and no link, so that
# none is made outside.
make_below() (
	CDPATH=''
	cd -P -- "$1" || exit 1
	at=$(pwd -P)
	rest=$2/
	while [ -n "$rest" ]; do
		part=${rest%%/*}
		rest=${rest#*/}
		case $part in
		'' | .) continue ;;
		..) exit 1 ;;
		esac
		[ -d "./$part" ] || mkdir -- "./$part" || exit 1
		cd -P -- "./$part" || exit 1
		[ "$(pwd -P)" = "${at%/}/$part" ] || exit 1
		at=${at%/}/$part
	done
)

[ -n "${1-}" ] || fail 4 'there is no command to run'
wanted=false
! is_on YAMTAM_SANDBOX_MODE "${YAMTAM_SANDBOX_MODE-}" || wanted=true
! is_on YAMTAM_BWRAP_SANDBOX "${YAMTAM_BWRAP_SANDBOX-}" || wanted=true
$wanted || exec "$@"

holdback=${0%/*}/../../bin/holdback
case $0 in
*/*) ;;
*) holdback= ;;
esac
[ -n "$holdback" ] && [ -x "$holdback" ] || holdback=$(command -v holdback) ||
	fail 6 'holdback is not in PATH: nothing was run'

root=${YAMTAM_SANDBOX_ROOTDIR:-.}
[ -d "$root" ] || fail 4 "YAMTAM_SANDBOX_ROOTDIR is no directory: nothing was run"
writable=${YAMTAM_SANDBOX_WRITEDIR-}
if [ -n "$writable" ]; then
	case $writable in
	/* | .. | ../* | */.. | */../*)
		fail 4 'YAMTAM_SANDBOX_WRITEDIR leads out of the project: nothing was run'
		;;
	esac
	make_below "$root" "$writable" 2>/dev/null ||
		fail 4 'YAMTAM_SANDBOX_WRITEDIR cannot be made, or has a link in it: nothing was run'
	set -- --export "$writable" -- "$@"
else
	set -- -- "$@"
fi
if [ -n "${HOLDBACK_SESSION-}" ]; then
	set -- -s "$HOLDBACK_SESSION" "$@"
else
	set -- --ephemeral "$@"
fi
if [ -n "${YAMTAM_SANDBOX_STRICT-}" ] &&
	! is_on YAMTAM_SANDBOX_STRICT "$YAMTAM_SANDBOX_STRICT"; then
	set -- --allow-degraded "$@"
fi
"$holdback" run -q -C "$root" "$@"
status=$?
[ "$status" -ne 125 ] || status=6
exit "$status"
