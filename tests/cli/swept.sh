#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A session whose holdback was killed, and that holds nothing, is removed by the
# next list of sessions.  One that holds something stays.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

HOME=$work/home
export HOME
mkdir -p home p
cd p || bail 'no directory'

# killed SCRIPT: a run of the script is killed once it waits.
killed() {
	"$HB_BIN" run -q -- sh -c "$1; exec tail -f /dev/null" >"$work/out" 2>&1 &
	killed_pid=$!
	killed_n=0
	until "$HB_BIN" ls | grep -q ' live ' && grep -q ready "$work/out"; do
		killed_n=$((killed_n + 1))
		[ $killed_n -lt 300 ] || bail 'no session began'
		sleep 0.1
	done
	kill -9 $killed_pid
	wait $killed_pid 2>/dev/null
	killed_n=0
	while "$HB_BIN" ls 2>"$work/.said" | grep -q ' live '; do
		killed_n=$((killed_n + 1))
		[ $killed_n -lt 300 ] || bail 'the session does not end'
		sleep 0.1
	done
}

killed 'echo ready'
like 'the list says that it removed the session' "$(cat "$work/.said")" \
	"*session 'sh-1': its command was ended from outside, and changed nothing: the session is removed*"
is 'a killed run that changed nothing leaves no session' "$("$HB_BIN" ls)" ''
killed 'echo x >f; echo ready'
like 'a killed run that changed something leaves its session' "$("$HB_BIN" ls)" 'sh-1 *crashed* 1 *'
like 'its change is there' "$("$HB_BIN" diff --name-status 2>/dev/null)" '*f'
"$HB_BIN" cleanup -y @sh-1 >/dev/null 2>&1
killed 'chmod 700 .; echo ready'
like 'a killed run that changed the mode of its directory leaves its session' \
	"$("$HB_BIN" ls)" 'sh-1 *crashed*'
"$HB_BIN" cleanup -y @sh-1 >/dev/null 2>&1
"$HB_BIN" create mine --cow . >/dev/null
"$HB_BIN" exec @mine -- sh -c 'echo ready; exec tail -f /dev/null' >"$work/out" 2>&1 &
pid=$!
until grep -q ready "$work/out"; do sleep 0.1; done
kill -9 $pid
wait $pid 2>/dev/null
while "$HB_BIN" ls | grep -q ' live '; do sleep 0.1; done
like 'a session that the user made stays' "$("$HB_BIN" ls)" 'mine *'
"$HB_BIN" cleanup -y @mine >/dev/null 2>&1
done_testing
