#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
#
# After a run in memory: whether anything changed on the real disk.  (C4)
# shellcheck disable=SC2016 # expanded inside
. "$HB_TESTS/lib/cli.sh"

export XDG_STATE_HOME="$work/state"
export HOME="$work/home"
mkdir -p home p/d p/logs
echo one >p/f
echo two >p/d/f
cd p || bail 'no workspace'

says 'C4 after a run in memory nothing has changed outside' 0 \
	'*holdback: nothing of 5 changed outside' \
	run --verify sh -c 'echo x >f; rm -r d; mkdir n; chmod 600 f'
check_exit 'the status of the command stays' 7 run --verify sh -c 'exit 7'

# A program outside writes meanwhile: the command waits for it.
mkdir "$work/meet"
# meddled SCRIPT OPTIONS...: a run in which the script is run outside.
meddled() {
	meddled_script=$1
	shift
	rm -f "$work"/meet/*
	run -q --verify --rw "$work/meet" "$@" sh -c '
		: >"$1/here"; until [ -e "$1/done" ]; do sleep 0.02; done' sh "$work/meet" &
	wait_until test -e "$work/meet/here"
	sh -c "$meddled_script"
	: >"$work/meet/done"
	wait $!
}
says 'a change by another program meanwhile is named, and the status is 1' 1 \
	"*changed outside: '$work/p/f': written to*" meddled 'echo mine >>f'
like 'a new file and its directory are named' "$(meddled 'touch d/new' 2>&1 | LC_ALL=C sort)" \
	"*changed outside: '$work/p/d': names were added*changed outside: '$work/p/d/new': made since*"
is 'the document of the end counts it' \
	"$(meddled 'chmod 600 f' --json 3>&1 2>/dev/null | tail -n 1 | python3 -c \
	'import json, sys; d = json.load(sys.stdin); print(d["looked"], d["changed_outside"], d["unread"], d["status"])')" \
	'6 1 0 1'
says 'writes that are real by a setting are not named' 0 \
	'*nothing of * changed outside' \
	run --verify --export logs sh -c 'echo x >logs/l'
is 'they are real' "$(cat logs/l)" x
mkdir shut
chmod 0 shut
# Root reads everything, and has no such directory.
if ! [ -r shut ]; then
	says 'a directory that cannot be read is told, and the status is 1' 1 \
		'*1 directory could not be looked into*' run --verify true
	check_fails 'nothing is said of all then' sh -c 'case $1 in *"changed outside"*) ;; *) false ;; esac' \
		sh "$(run --verify true 2>&1)"
	check_exit 'the status of the command stays then' 7 run --verify sh -c 'exit 7'
fi
chmod 700 shut
says '--verify needs --ephemeral' 125 \
	"holdback: \[2\] --verify is for a run with --ephemeral*fix: holdback verify*" \
	"$HB_BIN" run --verify touch ran
echo 'verify = yes' >.holdback.conf
check_exit 'no file in the workspace says it' 125 run touch ran
rm .holdback.conf
is 'nothing ran' "$(ls)" "d
f
logs
shut"
done_testing
