#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
#
# A machine's role: an agent service over project and vault, a log, a status
# helper, sync by command, and a reset.  (system 3)
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

export XDG_STATE_HOME="$work/state" HOME="$work/home" XDG_RUNTIME_DIR="$work/run"
mkdir -m 700 run
mkdir home project vault
echo one >project/f
echo note >vault/n
cd project || bail 'no project'

check_exit 'status tells that the overlay is not there' 9 "$HB_BIN" status --live @agent
check 'the overlays of project and vault are made' \
	"$HB_BIN" create agent --cow "$work/project" --cow "$work/vault"
check_exit 'a service does not start before the overlay' 125 \
	"$HB_BIN" exec --join @agent -- true
"$HB_BIN" keep @agent >"$work/keep" 2>&1 &
keeper=$!
wait_until "$HB_BIN" status --live @agent || bail "no box: $(cat "$work/keep")"
check 'the service runs in the overlay' "$HB_BIN" exec --join @agent -- \
	sh -c "echo two >f; echo n2 >'$work/vault/n'; echo new >made"
is 'the service works at the path of the project' "$("$HB_BIN" exec --join @agent -- pwd)" \
	"$work/project"
is 'host files are as they were' "$(cat f "$work/vault/n"; ls)" 'one
note
f'
is 'the agent writes are listed from outside' "$("$HB_BIN" status --json @agent | python3 -c '
import json, sys
print(*sorted(c["kind"] + " " + c["path"] for c in json.load(sys.stdin)["changes"]))')" \
	'A made M f M n'
like 'the tail of the log has what became of the session' "$("$HB_BIN" log @agent)" \
	'*agent done create*agent failed the session is not live*'
check 'sync takes the work while the service is there' "$HB_BIN" sync -y @agent
is 'both overlays have arrived' "$(cat f "$work/vault/n" made)" 'two
n2
new'
check 'the service goes on' "$HB_BIN" exec --join @agent -- sh -c 'rm f; echo secret >.envrc'
check_fails 'the gate keeps what executes by itself' "$HB_BIN" sync --auto @agent
is 'nothing of that sync has arrived' "$(cat f; ls -A)" 'two
f
made'
check 'the service is stopped' "$HB_BIN" stop @agent
wait $keeper
check_exit 'status tells that the overlay is gone' 1 "$HB_BIN" status --live @agent
check 'reset discards what is pending' "$HB_BIN" rollback -y @agent
is 'after the reset the view is that of the host' "$("$HB_BIN" exec @agent -- cat f)" two
check 'nothing else changed outside' "$HB_BIN" verify @agent
check 'cleanup leaves nothing' "$HB_BIN" cleanup -y @agent
is 'no session is left' "$("$HB_BIN" ls)" ''
done_testing
