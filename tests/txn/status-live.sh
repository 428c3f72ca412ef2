#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# timeout: 120
# What status says from outside about a session that is live.  (N5, N6)
. "$HB_TESTS/lib/txn.sh"

new_session 'echo real >f'
mkfifo "$work/go"

# start COMMAND WORD...: in the background; what it reads ends when 9 is closed.
start() {
	(cd "$project" && exec "$HB_BIN" "$@") <"$work/go" >"$work/out" 2>&1 9>&- &
	started=$!
}
# says GLOB: status -v of the session is like that.
says() {
	hb status -v @s >"$work/said"
	like_file "$work/said" "$1"
}
like_file() {
	# shellcheck disable=SC2254 # a pattern
	case $(cat "$1") in
	$2) ;;
	*) return 1 ;;
	esac
}
# document EXPRESSION: of what status prints, as `d`.
document() {
	hb status --json @s | python3 -c "import json, sys
d = json.load(sys.stdin)
print($1)"
}

is 'an idle one has no such line' "$(hb status -v @s | grep -c 'live\|mount ')" 0
is 'the document of an idle session has no live object' "$(document '"live" in d')" False

start keep --state-dir "$state" @s
kept=$started
exec 9>"$work/go"
wait_until says '*· kept open ·*' || bail "it is not live: $(cat "$work/out")"
before=$(date +%s)
is 'who has it, and that it is kept' \
	"$(hb status @s | sed -n '2s/^live since [-0-9]* [:0-9]* //p')" \
	"· pid $kept · kept open · 0 commands"
is 'since when' "$(document "$before - 100 < d['live']['since'] <= $before")" True
is 'nothing has changed so far' "$(hb status @s | tail -n 1)" 'no changes · live'

# A command that joins, whose words would speak to the terminal.
red=$(printf '\033[31m')
start exec --state-dir "$state" @s -- sh -c ': >started; read -r line' "$red"
wait_until test -e "$state/sessions/s/r0/upper/started"
is 'a command has joined' "$(document '[c["joined"] for c in d["live"]["commands"]]')" '[True]'
pid=$(document 'd["live"]["commands"][0]["pid"]')
is 'its pid is right' "$(cat "/proc/$pid/comm")" sh
like 'with its words' "$(hb status -v @s | grep "^  joined $pid ")" \
	"*exec --state-dir $state @s -- sh -c : >started; read -r line \\\\033\\[31m\""
is 'words of a live command cannot speak to the terminal' "$(hb status -v @s | grep -cF "$red")" 0
is 'what changed so far is marked' "$(hb status @s | tail -n 1)" '1 file: 1 added · live'

# What is mounted is what it sees itself.
is 'every mount is there' "$(hb status -v @s | grep -c '^  mount ')" \
	"$(in_box 'grep -c . /proc/self/mountinfo')"
like 'with its options' "$(hb status -v @s | grep "^  mount $project ")" \
	"  mount $project overlay * rw,nosuid,nodev,* · *upperdir=$state/sessions/s/r0/upper,*"
in_box 'cat /proc/self/mountinfo' >"$work/inside"
is 'also in the document' "$(hb status --json @s | python3 -c '
import json, sys
told = [(m["path"], m["options"], m["type"]) for m in json.load(sys.stdin)["live"]["mounts"]]
seen = []
for line in open(sys.argv[1]):
    words = line.split()
    path = words[4].replace("\\040", " ")
    seen.append((path, words[5], words[words.index("-") + 1]))
print(told == seen or (told, seen))' "$work/inside")" True

# The view from the host, for who has an editor there.
view=$(hb status -v @s | sed -n 's/^  view //p')
is 'the document has the same' "$(document 'd["live"]["view"]')" "$view"
in_box 'echo inside >new'
is 'the view can be read from outside' "$(cat "$view$project/new" "$view$project/f")" 'inside
real'
echo edited >"$view$project/f"
is 'what is written there is in the box' "$(in_box 'cat f')" edited
is 'a write to the view from outside is held back' "$(cat "$project/f"):$(names)" 'real:M f,A new,A started,'
init=$(document 'd["live"]["init"]')
if [ "$HB_MODE" = root ]; then
	check 'root can also go by pid 1' test -e "/proc/$init/root$project/new"
else
	check_fails 'by pid 1 its user cannot' test -e "/proc/$init/root$project/new"
fi

# Who is in another pid namespace is told no numbers that are others there.
is 'from another pid namespace' "$(cd "$project" && unshare -Urpf "$HB_BIN" status --json \
	--state-dir "$state" @s | python3 -c 'import json, sys
live = json.load(sys.stdin)["live"]
print(sorted(live), live["joined"], [c["words"] for c in live["commands"]])')" \
	"['commands', 'disk_full', 'joined', 'kept', 'pid', 'since'] 1 ['']"

# A supervisor that says nothing is not waited for.
kill -STOP "$kept"
wait_until grep -q '^State:.T' "/proc/$kept/status"
like 'one that is stopped' "$(hb status -v @s)" \
	"*live since * · pid $kept · the command that holds the session is stopped
*3 files: 1 changed, 2 added · live"
is 'says why' "$(document 'd["live"]["silence"]')" \
	'the command that holds the session is stopped'
kill -CONT "$kept"

# More than are named.
i=0
while [ "$i" -lt 65 ]; do
	i=$((i + 1))
	start exec --state-dir "$state" @s -- cat
done
wait_until says '*· 66 commands*' || cat "$work/out"
is 'status names 64 clients' "$(grep -c '^  joined ' "$work/said")" 64
is 'status counts the clients beyond 64' "$(grep '^  … ' "$work/said")" '  … and 2 more'
exec 9>&-
wait_until says '*· 0 commands*'
check 'stop' hb stop @s
wait "$kept"

# With a command of its own, in a directory whose name speaks to the terminal.
odd="$work/o d$red"
mkdir "$odd"
check 'create' hb create odd --cow "$odd"
start exec --state-dir "$state" @odd -- cat
exec 9>"$work/go"
wait_until sh -c "'$HB_BIN' status -v --state-dir '$state' @odd | grep -q '^  command '"
hb status -v @odd >"$work/said"
like 'its own command' "$(cat "$work/said")" \
	"*live since * · pid $started · 1 command
*  command * * -- cat
*"
is 'the mount has its name' "$(grep -c '^  mount ".*/o d\\033\[31m" overlay ' "$work/said")" 1
is 'nothing speaks to the terminal' "$(grep -cF "$red" "$work/said")" 0
exec 9>&-
wait "$started"

wait
finish
