#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The check command of `gate-run` runs on a fork of the session in its own box;
# if it fails, that is a finding with its last lines.
. "$HB_TESTS/lib/txn.sh"

new_session 'echo old >a'
in_box 'echo new >a; echo b >b'
before=$(digest "$project")

check 'a command that succeeds' hb commit -n -y --gate-run 'test "$(cat a)" = new && test -e b' @s
check_exit 'one that fails is a refusal' 4 hb commit -y --gate-run 'exit 3' @s
is 'nothing is committed' "$(digest "$project")" "$before"
is 'it says status and last lines' "$(hb gate --gate-run 'seq 12; printf "no\n\nend" >&2; exit 3' @s)" \
	'ask: .: the check command does not succeed: status 3 [gate-run]
    6
    7
    8
    9
    10
    11
    12
    no
    
    end
1 to be allowed, 0 denied'
like 'also in the document' "$(hb gate --json --gate-run 'echo why; false' @s)" \
	'*"rule":"gate-run"*"output":"why?u000a"*'
like 'a signal has its number' "$(hb gate --gate-run 'kill -9 $$' @s)" '*status 137*'
said=$(hb gate --gate-run 'printf "\033[31mred\000\007\n"; head -c 5000000 /dev/zero; false' @s)
unlike 'its words do not reach the terminal' "$said" "*$(printf '\033')*"
like 'the last words of a check have a limit' "${#said}" '????'
check_exit 'what it leaves in the background does not matter' 4 \
	hb gate --gate-run 'sleep 1000 & false' @s

hb gate --gate-run "echo x >a; echo y >c; rm b; echo z >'$HOME/out'" @s >/dev/null
is 'what it does to the files is nobody'"'"'s' "$(names)" 'M a,A b,'
is 'neither in the project' "$(digest "$project")" "$before"
check_fails 'a check writes nothing outside' test -e "$HOME/out"
is 'its fork is gone' "$(hb ls | wc -l)" 1

# Another command has the session for a moment, as `ls` in another window does.
flock "$state/sessions/s/lock" sh -c 'echo >"$1"; sleep 0.3' - "$project.held" &
holder=$!
wait_until test -e "$project.held" || note 'the lock was not taken'
check 'a gate waits for a command that ends soon' hb gate --gate-run true @s
wait "$holder"
rm "$project.held"

check 'it can be allowed' hb gate --gate-run false --allow gate-run @s
mkdir -p "$HOME/.config/holdback"
echo 'gate-run = test ! -e stop' >"$HOME/.config/holdback/config"
in_box 'echo >stop'
check_exit 'the configuration names it' 4 hb commit -y @s
in_box 'rm stop'
check 'a check of the configuration that succeeds lets the commit pass' hb commit -y @s
is 'then everything is there' "$(cat "$project/a" "$project/b")" 'new
b'
in_box 'echo >stop'
check '--no-gate runs none' hb commit -y --no-gate @s
printf 'rule = gate-run\nseverity = deny\n' >"$HOME/.config/holdback/gate.rules"
in_box 'echo more >>stop'
check_exit 'its severity can be another' 4 hb commit -y --allow gate-run @s
rm -r "${HOME:?}/.config"

# A session that a run made keeps what the run was told.
(cd "$project" && "$HB_BIN" run -q --session r --gate-run 'test ! -e fail' -- \
	sh -c 'echo >fail') >/dev/null 2>&1
check_exit 'the command of the run that made the session' 4 \
	sh -c "cd '$project' && '$HB_BIN' commit -y @r"
sh -c "cd '$project' && '$HB_BIN' cleanup -y @r" >/dev/null
rm -rf "$HOME/.local"
finish
