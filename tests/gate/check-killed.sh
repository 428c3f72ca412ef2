#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A gate that is killed while its check command runs: the command ends with it,
# and what it ran on is removed by whoever comes next, and is nobody else's.
. "$HB_TESTS/lib/txn.sh"

# forks: the sessions that are not the test's own.
forks() {
	hb ls --json | python3 -c '
import json, sys
for s in json.load(sys.stdin)["sessions"]:
    if s["name"] not in ("s", "mine"):
        print(s["name"], s["state"])'
}
is_live() {
	case $(forks) in *' live') ;; *) return 1 ;; esac
}
is_over() {
	! is_live
}

# kill_gate: as soon as its command runs; nothing has to wait for that to end.
kill_gate() {
	(cd "$project" && exec "$HB_BIN" gate --state-dir "$state" --gate-run 'sleep 1000' @s) \
		>/dev/null 2>&1 &
	gate=$!
	wait_until is_live || note 'the check did not start'
}
end_gate() {
	kill -9 "$gate"
	wait "$gate" 2>/dev/null
	wait_until is_over || note 'the check did not end'
}

new_session 'echo a >a'
in_box 'echo b >b'
kill_gate
hb gc >/dev/null
hb cleanup -y --stale >/dev/null
check 'what is in use is left alone' is_live
end_gate
check 'its command ends with it' is_over
unlike 'a killed gate leaves its fork' "$(forks)" ''
like 'gc says so' "$(hb gc -n)" '*a check that was cut short*'
unlike 'gc --dry-run leaves the fork of a killed gate' "$(forks)" ''
check 'gc' hb gc
is 'removes it' "$(forks)" ''

kill_gate
end_gate
check 'cleanup --stale' hb cleanup -y --stale
is 'removes it, too' "$(forks)" ''

kill_gate
end_gate
# One of the user's that looks like it, and another session's.
id=$(forks | sed 's/^gate-\([0-9a-f]*\)-.*/\1/')
hb fork @s mine >/dev/null
hb create "gate-$id-1" --cow "$project" >/dev/null
check 'another gate' hb gate --gate-run true @s
is 'removes it, and nothing that has such a name' "$(forks)" "gate-$id-1 idle"
check 'gc removes nothing that only has the name of a fork' hb gc
check 'whatever they are called' hb cleanup -y --stale
is 'it is there' "$(forks)" "gate-$id-1 idle"
is 'what is pending is, too' "$(names)" 'A b,'

kill_gate_of_gone() {
	kill_gate
	end_gate
	hb cleanup -y @s >/dev/null
}
kill_gate_of_gone
hb cleanup -y @mine >/dev/null
hb gc >/dev/null
is 'of a session that is gone' "$(forks)" "gate-$id-1 idle"
check 'nothing else is left' hb cleanup -y "@gate-$id-1"
is 'no layer either' "$(find "$state/layers" -mindepth 1 2>/dev/null)" ''
finish
