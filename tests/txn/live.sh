#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# While a command runs in a session nobody else changes it, and when it was
# killed nothing is lost.
. "$HB_TESTS/lib/txn.sh"

new_session 'echo f >f'
mkfifo "$work/go"

# start_box: a command in the session that has written and waits for its end.
start_box() {
	(cd "$project" && exec "$HB_BIN" exec --state-dir "$state" @s -- \
		sh -c 'echo pending >>f; : >started; read -r line') \
		<"$work/go" >/dev/null 2>&1 &
	box=$!
	exec 9>"$work/go"
	wait_until test -e "$state/sessions/s/r0/upper/started"
}

end_box() {
	exec 9>&-
	wait "$box"
}

start_box
is 'ls shows it live' "$(hb ls | awk '{print $2}')" 'live'
like 'status, too' "$(hb status @s)" 'session s: live*M f*'
like 'status says where a live session is mounted' "$(hb status @s)" "*overlay · mounted on $project · *"
for command in 'commit -y' undo redo 'rollback -y' 'cleanup -y' recover; do
	# shellcheck disable=SC2086 # words
	out=$(hb $command @s 2>&1)
	is "$command answers [8]" "$?" 8
	like "$command says what to do" "$out" '*live*fix: holdback stop @s*'
done
check 'a second command joins' hb exec @s -- test -e started
out=$(hb keep @s 2>&1)
is 'a second box is refused' "$?" 125
like 'a second box is refused with a reason' "$out" 'holdback: \[8\] *fix: holdback stop @s'
end_box
is 'the command ended' "$?" 1
is 'then it is idle' "$(hb ls | awk '{print $2}')" 'idle'
is 'its changes are there' "$(names)" 'M f,A started,'
is 'no work directory is left' "$(cd "$state/sessions/s/r0" && echo work* trash/*)" \
	'work* trash/*'

rm -f "$state/sessions/s/r0/upper/started"
start_box
kill -KILL "$box"
wait "$box" 2>/dev/null
exec 9>&-
# The box ends with its supervisor; its lock is held until then.
wait_until sh -c "'$HB_BIN' ls --state-dir '$state' | grep -vq live"
is 'ls shows that it crashed' "$(hb ls | awk '{print $2}')" 'crashed'
out=$(hb status @s 2>&1)
like 'the next command says that it was killed' "$out" '*ended from outside*'
is 'what it wrote is kept' "$(names)" 'M f,A started,'
is 'said once' "$(hb status @s 2>&1 | grep -c outside)" 0
check 'the session can be used' hb exec @s -- true
is 'no work directory is left' "$(cd "$state/sessions/s/r0" && echo work* trash/*)" \
	'work* trash/*'

# The machine went down: the record is of another boot.
file=$state/sessions/s/session
reboot() {
	python3 - "$file" "$1" <<-'END'
		import hashlib, sys
		path, state = sys.argv[1:]
		lines = open(path).read().splitlines()[:-1]
		lines = [
		    f"state = {state}" if line.startswith("state =")
		    else "boot = another" if line.startswith("boot =")
		    else line
		    for line in lines
		]
		text = "".join(line + "\n" for line in lines)
		digest = hashlib.sha256(text.encode()).hexdigest()
		open(path, "w").write(text + f"sum = {digest}\n")
	END
}
reboot active
mkdir -p "$state/sessions/s/r0/work/work"
chmod 000 "$state/sessions/s/r0/work/work"
like 'a machine that went down is told' "$(hb status @s 2>&1)" \
	'*machine went down*may be missing*'
like 'as long as these changes are pending' "$(hb status @s)" '*may be missing*'
is 'in JSON as well' "$(hb status --json @s | python3 -c \
	'import json, sys; print(json.load(sys.stdin)["session"]["lost"])')" True
check 'the session can be used' hb exec @s -- true
reboot active
like 'exec makes up for a crash itself' "$(hb exec @s -- echo 'and runs' 2>&1)" \
	'*machine went down*and runs'
check 'a session that was recovered by exec can be committed' hb commit -y @s
unlike 'then it is over' "$(hb status @s)" '*missing*'
reboot idle
unlike 'an idle one has lost nothing' "$(hb status @s 2>&1)" '*missing*'
rm -f "$work/go"
finish
