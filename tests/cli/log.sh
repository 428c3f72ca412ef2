#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
#
# The log: what is in it, how it is read, that an edit is found, and that it
# outlives its sessions.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

export XDG_STATE_HOME="$work/state"
export HOME="$work/home"
mkdir home p logs
chmod 755 "$work" logs
cd p || bail 'no workspace'
log=$XDG_STATE_HOME/holdback/log

# kinds OPTIONS...: the kinds of the records, in a line.
kinds() {
	"$HB_BIN" log -n 1000 --json "$@" | python3 -c '
import json, sys
print(*[json.loads(line)["kind"] for line in sys.stdin])'
}
# member NAME OPTIONS...: one member of each record that has it, a line each.
member() {
	member_name=$1
	shift
	"$HB_BIN" log -n 1000 --json "$@" | python3 -c '
import json, sys
for line in sys.stdin:
    record = json.loads(line)
    if sys.argv[1] in record:
        print(record[sys.argv[1]])' "$member_name"
}

is 'there is no log before the first command' "$("$HB_BIN" log; ls "$XDG_STATE_HOME" 2>&1)" \
	"ls: cannot access '$XDG_STATE_HOME': No such file or directory"
"$HB_BIN" run -q -s s -- sh -c 'echo 1 >f; echo 2 >.envrc; exit 3'
is 'a run is in the log with its command, settings, start, end and changes' \
	"$(kinds)" 'ordered policy started ended held held'
is 'the command has its words, but for the values of options' "$(member text --kind ordered)" \
	'sh -c ...'
is 'the end has its status' "$(member status)" 3
like 'the settings have a hash' "$(member text --kind policy)" \
	'profile=sh net=none session=s quiet=yes sha256:????????*'
is 'the paths that are held back are named' "$(member path --kind held)" '.envrc
f'
is 'each record names session and project' "$(member project | sort -u):$(member session | sort -u)" \
	"$work/p:s"

"$HB_BIN" commit -y @s >/dev/null 2>&1
is 'a commit that the gate stops is in the log with its finding' \
	"$(kinds | cut -d ' ' -f 7-)" 'begun finding refused'
"$HB_BIN" commit -y --allow environment @s >/dev/null 2>&1
is 'a commit is in the log with its decision and each path' \
	"$(kinds | cut -d ' ' -f 10-)" 'begun finding changed changed done'
"$HB_BIN" undo @s >/dev/null
is 'an undo is in the log with each path' "$(kinds | cut -d ' ' -f 15-)" 'begun changed changed done'
"$HB_BIN" rollback -y @s >/dev/null
is 'a rollback is in the log' "$(member text --kind "done" | tail -n 1)" rollback
"$HB_BIN" cleanup -y @s >/dev/null
is 'the log outlives its session' "$(member text @s --kind "done" | tr '\n' ' ')" \
	'commit undo rollback cleanup '

"$HB_BIN" run -q -s d -- sh -c 'kill -9 $$' 2>/dev/null
is 'a command that was killed has its status' "$(member status @d)" 137
"$HB_BIN" run -q no-such-program 2>/dev/null
is 'a start that is refused is in the log' "$(member text --kind failed)" \
	"there is no program 'no-such-program' in PATH"
"$HB_BIN" run -q --ephemeral -- true
is 'a run in memory is in the log' "$(member text --kind ordered | tail -n 1)" true
"$HB_BIN" run -q --direct -- true 2>/dev/null
is 'a run on the real files is in the log, and that it was weaker' \
	"$(member text --kind weakened | grep -c 'nothing is held back')" 1
"$HB_BIN" create e --cow . >/dev/null
"$HB_BIN" exec @e -- sh -c 'echo 3 >g'
is 'create and exec are in the log' "$(kinds @e)" 'done ordered policy started ended'
"$HB_BIN" exec @nobody -- true 2>/dev/null
is 'an exec in no session is refused in the log' "$(member text --kind failed | tail -n 1)" \
	"there is no session 'nobody'"
is 'looks are not in the log' "$(before=$(kinds | wc -w)
	"$HB_BIN" status @e >/dev/null
	"$HB_BIN" gate @e >/dev/null
	"$HB_BIN" diff @e >/dev/null
	"$HB_BIN" ls >/dev/null
	echo $(($(kinds | wc -w) - before)))" 0

# Killed with its holdback.
"$HB_BIN" run -q -s k -- sleep 100 &
killed=$!
check 'a command that lasts is in the log while it runs' \
	wait_until sh -c '"$HB_BIN" log @k --kind started | grep -q sleep'
kill -9 "$killed"
wait "$killed" 2>/dev/null
"$HB_BIN" exec @k -- true
is 'a command of which the end is not known is told as such' "$(member text @k --kind failed)" \
	'the end of the command is not known: sleep 100'

# Reading it.
is 'the last 20 records are shown' "$("$HB_BIN" log | wc -l)" 20
is 'the last records are shown, as many as are asked for' "$("$HB_BIN" log -n 2 | wc -l)" 2
like 'a line has time, session, event and words' "$("$HB_BIN" log -n 100 @s --kind ordered)" \
	'20??-??-??T??:??:??.???Z s command sh -c ...'
is 'refusals are shown with what can be done' "$("$HB_BIN" log --denied @s | cut -d ' ' -f 2-)" \
	's gate environment (ask) .envrc
 fix: look at the file; holdback commit --allow RULE, or --except GLOB
s refused the gate does not let it pass
 fix: holdback status; holdback commit says the options'
like 'why without a path shows the last refusal here' "$("$HB_BIN" why)" \
	"20* - failed there is no*"
is 'why finds no refusal where there was none' "$(mkdir ../r && cd ../r && "$HB_BIN" why)" \
	'nothing was refused in this directory'
check_exit 'why without a path has no document' 2 "$HB_BIN" why --json
is 'records of another project are left out' \
	"$(mkdir ../q && cd ../q && "$HB_BIN" run -q --ephemeral -- true && kinds --project .)" \
	'ordered policy started ended'
is 'a time of the future has no records' "$(kinds --since 2999-01-01)" ''
check 'a time ago has records' test -n "$(kinds --since 1h)"
says 'a time that is none is refused' 2 '*--since*no time*' "$HB_BIN" log --since yesterday
"$HB_BIN" log -f -n 1 >"$work/followed" &
follower=$!
wait_until test -s "$work/followed"
"$HB_BIN" run -q --ephemeral -- true
check 'a log that is followed shows new records' wait_until grep -q ' started ' "$work/followed"
kill "$follower"
wait "$follower" 2>/dev/null

# Any bytes in a name.
"$HB_BIN" run -q -s odd -- sh -c 'printf x >"$(printf "a\nb\"\\\\\033[31m")"'
is 'a name of any bytes is one line' \
	"$("$HB_BIN" log @odd --kind held | cut -d ' ' -f 2-)" 'odd held A "a\012b\"\\\033[31m"'

# No record.
before=$(kinds | wc -w)
says 'a run without a record says so' 0 '*weakened: nothing of this command is in the log*' \
	"$HB_BIN" run -q -s quiet --audit none -- sh -c 'echo 4 >h'
is 'a run without a record has none' "$(kinds | wc -w)" "$before"
says 'a word that is no level is refused' 125 '*audit*' "$HB_BIN" run --audit some -- true

# A file beside it.
"$HB_BIN" run -q --ephemeral --log "$work/logs/a.jsonl" -- true
is 'the records are in a file of choice as well' \
	"$(grep -c '"kind":"ended"' "$work/logs/a.jsonl"):$(stat -c %a "$work/logs/a.jsonl")" 1:600
"$HB_BIN" exec --log ../logs/b.jsonl @e -- true
"$HB_BIN" commit -y --log ../logs/b.jsonl @e >/dev/null
is 'exec and commit append to such a file' \
	"$(grep -c '"kind":"started"\|"text":"commit"' ../logs/b.jsonl)" 3
mkdir -m 1777 ../open
says 'a log file in a directory that others can write is refused, with the reason' 125 \
	"*[[]3] the log file cannot be used: others can write to '$work/open'*" \
	"$HB_BIN" run -q --log "$work/open/a" -- true
is 'it was not made' "$(ls ../open)" ''
says 'commit refuses such a log file as well' 3 "*others can write to '$work/open'*" \
	"$HB_BIN" commit -y --log ../open/a @e
says 'a log file that the command could write is refused' 125 \
	'*[[]2] the command could write the log file*' "$HB_BIN" run -q --log here.jsonl -- true
ln -s "$work/logs/a.jsonl" ../logs/link
check_exit 'a link is no log file' 125 "$HB_BIN" run -q --log ../logs/link -- true
mkdir -m 777 ../loose && mkdir ../loose/in
says 'a log file below a directory that others can write is refused' 125 \
	"*others can write to '$work/loose'*" "$HB_BIN" run -q --log ../loose/in/a -- true

# No secret, and no obstacle.
"$HB_BIN" run -q --ephemeral --env TOKEN=s3cret --env HOME -- true
like 'the log has the names of variables' "$(member text --kind policy | tail -n 1)" \
	'* env=TOKEN= env=HOME sha256:*'
is 'the log has no values of variables' "$(grep -c s3cret "$log/00000001.jsonl")" 0
"$HB_BIN" run -q -s limited -- sh -c 'echo 5 >limited' 2>/dev/null
says 'a commit is made where no file may grow as large as the log' 0 '*the log cannot be written*' \
	sh -c 'ulimit -f 16; exec "$HB_BIN" commit -y @limited >/dev/null'
is 'its changes are there' "$(cat limited)" 5
head -c 100000 /dev/zero >../logs/large && chmod 600 ../logs/large
XDG_STATE_HOME=$work/small "$HB_BIN" run -q -s limited -- sh -c 'echo 6 >limited' 2>/dev/null
XDG_STATE_HOME=$work/small says 'a large log file of choice does not stop a commit' 0 '*the log cannot be written*' \
	sh -c 'ulimit -f 16; exec "$HB_BIN" commit -y --log ../logs/large @limited >/dev/null'
like 'the next record says how many are missing' "$("$HB_BIN" run -q --ephemeral -- true
	member text --kind lost | tail -n 1)" '* records could not be written'

# Out of reach, and verified.
is 'the log cannot be seen inside' \
	"$("$HB_BIN" run -q --ephemeral -- sh -c 'ls "$1" 2>&1 | grep -c "No such"' sh "$log")" 1
like 'the log is whole' "$("$HB_BIN" log --verify)" 'the log is whole: * records in * blocks'
cp -r "$log" "$work/whole"
damage() {
	{ rm -rf "$log" && cp -r "$work/whole" "$log"; } || bail 'no copy'
	sed -i "$2" "$log/00000001.jsonl"
	check_exit "$1" 10 "$HB_BIN" log --verify
}
damage 'a line that was changed is found' '4s/started/stopped/'
damage 'a line that was removed is found' 8d
damage 'lines that were moved are found' '2{h;d};3{G}'
damage 'an end that was cut off is found' '$d'
rm -rf "$log" && cp -r "$work/whole" "$log"
printf '{"seq":99' >>"$log/00000001.jsonl"
like 'a torn tail is said' "$("$HB_BIN" log --verify)" 'the log is whole:*torn: the last write was cut short*'
"$HB_BIN" run -q --ephemeral -- true
like 'the next record says that a write was torn' "$("$HB_BIN" log --verify)" \
	'the log is whole:*torn: 1 write was cut short, and the log says so'
is 'the document of --verify says the same' "$("$HB_BIN" log --verify --json | python3 -c '
import json, sys
found = json.load(sys.stdin)
print(found["whole"], found["torn"], found["faults"])')" 'True 1 []'

done_testing
