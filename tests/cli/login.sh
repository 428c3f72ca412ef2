#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The login of an agent reaches the host if it renews one that was due, or if its
# user says so, and in no other way; the host's file is whole all the time.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
# needs: python3
. "$HB_TESTS/lib/cli.sh"

home=$work/home
mkdir -p home/.claude home/.local/bin home/.local/share/claude p q
HOME=$home
PATH=$home/.local/bin:$PATH
export HOME PATH
printf '#!/bin/sh\neval "$1"\n' >home/.local/share/claude/claude
chmod +x home/.local/share/claude/claude
ln -s ../share/claude/claude home/.local/bin/claude
cd p || bail 'no directory'
file=$home/.claude/.credentials.json
sessions=$home/.local/state/holdback/sessions

# login TOKEN EXPIRES [ACCOUNT]: the text of a file of claude.
login() {
	printf '{"claudeAiOauth":{"accessToken":"%s","refreshToken":"r-%s","expiresAt":%s},"organizationUuid":"%s"}' \
		"$1" "$1" "$2" "${3-me}"
}
due=1700000000000
far=4100000000000
agent() {
	"$HB_BIN" claude "$1" 2>"$work/.stderr" </dev/null
}
writes() {
	echo "printf '%s' '$1' >~/.claude/t && mv ~/.claude/t ~/.claude/.credentials.json"
}
# The members of a new file have lines of their own.
flat() {
	tr -d ' \n' <"$1"
}
left() {
	(cd "$home/.local/state/holdback" &&
		find sessions pending -mindepth 1 -maxdepth 1 2>/dev/null) | sort
}

# A machine without any state.
rmdir "$home/.claude"
agent 'mkdir -p ~/.claude; echo yes >~/.claude/trust'
is 'a first run on a machine without state is there in the next one' \
	"$(agent 'cat ~/.claude/trust')" yes
is 'the directory that was made for it has none of it' \
	"$(find "$home/.claude" -type f)" ''
"$HB_BIN" state --forget -y >/dev/null
mkdir -p "$home/.config/holdback"
for line in 'state = /etc' 'login = /etc/passwd' 'runs = ~/../x' 'data = /var' 'data = /usr' \
	"data = $work/p"; do
	echo "$line" >"$home/.config/holdback/config"
	agent true
	like "a path outside of the home is refused: $line" "$(cat "$work/.stderr")" \
		"*holdback/config:1: key '${line%% *}': *is not in the home directory*fix: *"
done
echo 'logins = ~/.claude' >"$home/.config/holdback/config"
agent true
like 'an unknown class is refused' "$(cat "$work/.stderr")" "*logins*login*"
rm "$home/.config/holdback/config"

# A state directory that is none.
state=$home/.claude
mv "$state" "$state.away"
ln -s nowhere "$state"
says 'a state directory that is a link to nothing is refused' 125 \
	"*key 'state': '$state' is a link that leads nowhere, and the agent's state could not be kept*fix: make the directory that it leads to, or: rm $state" \
	"$HB_BIN" claude true
is 'the link is as it was' "$(readlink "$state")" nowhere
rm "$state" && echo mine >"$state"
says 'a state directory that is a file is refused' 125 \
	"*'$state' is no directory, and the agent's state could not be kept*fix: move '$state' away" \
	"$HB_BIN" claude true
chmod 755 "$state"
says 'also one that can be executed' 125 "*'$state' is no directory*" "$HB_BIN" claude true
is 'the file is as it was' "$(cat "$state")" mine
check 'a run that keeps nothing goes on' "$HB_BIN" run --ephemeral -q -- claude true
rm "$state" && ln -s "$work/p" "$state"
says 'a link into the project is refused' 125 \
	"*'$state' leads to '$work/p', where the agent's state could not be kept*--ephemeral*" "$HB_BIN" claude true
rm "$state" && ln -s .claude.away "$state"
agent 'echo yes >~/.claude/trust'
is 'a link to a directory is a state directory' "$(agent 'cat ~/.claude/trust')" yes
is 'the link to a state directory stays' "$(readlink "$state")" .claude.away
ln -s "$home" "$work/home-link"
check 'a home that is a link may name a state directory twice' env HOME="$work/home-link" \
	"$HB_BIN" run -q --state "$work/home-link/.claude.away" \
	--state "$work/home-link/.claude.away" -- true
rm "$work/home-link"
"$HB_BIN" state --forget -y >/dev/null
rm "$state" && mv "$state.away" "$state"
ln -s nowhere "$home/.local/state-dir"
says 'a link on the way to one is refused' 125 "*'$home/.local/state-dir' is a link that leads nowhere*" \
	"$HB_BIN" run --state "$home/.local/state-dir/x" -- true
rm "$home/.local/state-dir"

# The first one.
agent "$(writes "$(login first $far)"); echo '{\"oauthAccount\":{\"a\":1},\"theme\":2}' >~/.claude.json"
check_exit 'a first login is not published by itself' 1 test -e "$file"
like 'a line says how to publish a first login' "$(cat "$work/.stderr")" \
	'*this login is kept for this project; to publish it to ~/.claude: holdback state claude --publish*'
is 'the next run in the project has the first login' \
	"$(agent 'cat ~/.claude/.credentials.json')" "$(login first $far)"
unlike 'a login that waits is said once' "$(cat "$work/.stderr")" '*login*'
is 'another project has no such login' \
	"$(cd ../q && agent 'cat ~/.claude/.credentials.json 2>/dev/null; echo none')" none
is 'a first login leaves no session' "$(left)" ''
like 'the login is published by its command' "$("$HB_BIN" state claude --publish)" \
	'published the login of claude*--undo*'
is 'the host has the login after that' "$(flat "$file")" "$(login first $far)"
is 'nobody else can read a published login' "$(stat -c %a "$file")" 600
is 'of a file that also has settings the login alone is published' \
	"$(flat "$home/.claude.json")" '{"oauthAccount":{"a":1}}'
is 'the rest of that file is there in the next run' "$(agent 'cat ~/.claude.json')" \
	'{"oauthAccount":{"a":1},"theme":2}'
says 'a login that is not there cannot be published' 10 \
	"*no login of 'codex' is carried*" "$HB_BIN" state codex --publish
says '--publish wants an agent' 2 '*an agent has to be named*' "$HB_BIN" state --publish
"$HB_BIN" state claude --undo >/dev/null
check_exit 'undo of a first login leaves the host without one' 1 test -e "$file"
"$HB_BIN" state claude --undo >/dev/null
is 'undo of undo publishes the login again' "$(flat "$file")" "$(login first $far)"

# One that replaces another.
agent "$(writes "$(login early $far)")"
is 'a login that replaces one too early is not published' "$(flat "$file")" "$(login first $far)"
"$HB_BIN" state --forget -y >/dev/null
login old $due >"$file"
chmod 640 "$file"
agent "$(writes "$(login new $far)")"
is 'a login that was due is published when it was renewed' "$(flat "$file")" "$(login new $far)"
is 'a renewed login has the mode of the old one' "$(stat -c %a "$file")" 640
like 'a line says that a login was published' "$(cat "$work/.stderr")" \
	'*published the renewed login to ~/.claude; holdback state claude --undo puts the old one back*'
is 'a renewed login leaves no session' "$(left)" ''
"$HB_BIN" state claude --undo >/dev/null
is 'undo puts the old login back' "$(flat "$file")" "$(login old $due)"
agent "$(writes "$(login forged $far them)")"
is 'a renewed login of another account is not published' "$(flat "$file")" "$(login old $due)"
"$HB_BIN" state --forget -y >/dev/null
printf '{"claudeAiOauth":{"accessToken":"a","expiresAt":%s},"mine":1}' $due >"$file"
agent "printf '%s' '{\"claudeAiOauth\":{\"accessToken\":\"b\",\"expiresAt\":$far},\"mine\":2,\"mcpOAuth\":3}' >~/.claude/.credentials.json"
is 'only the members of the login are published' "$(flat "$file")" \
	'{"claudeAiOauth":{"accessToken":"b","expiresAt":'$far'},"mine":1}'
"$HB_BIN" state --forget -y >/dev/null
echo '{"claudeAiOauth":{"accessToken":"other"}}' >"$file"
says 'undo does not replace a login that is newer' 10 '*was changed since it was published*' \
	"$HB_BIN" state claude --undo

# gemini's file of that name is no JSON.
keys=$home/.gemini/gemini-credentials.json
gemini() {
	"$HB_BIN" run -q --profile gemini -- sh -c "$1" 2>"$work/.stderr" </dev/null
}
gemini 'printf %s 0a:0b:0c >~/.gemini/gemini-credentials.json'
like 'an encrypted login is published by its command' "$("$HB_BIN" state gemini --publish)" \
	'published the login of gemini*'
is 'the bytes of an encrypted login are published' "$(cat "$keys")" 0a:0b:0c
for cut in '' '{' '{"key":"a"'; do
	gemini "printf %s '$cut' >~/.gemini/gemini-credentials.json"
	"$HB_BIN" state gemini --publish >/dev/null 2>&1
	is "a login that is cut to '$cut' is not published" "$(cat "$keys")" 0a:0b:0c
	"$HB_BIN" state --forget -y >/dev/null
done
printf '{"key":"a"}' >"$keys"
gemini 'printf %s 0a:0b:0c >~/.gemini/gemini-credentials.json'
"$HB_BIN" state gemini --publish >/dev/null 2>&1
is 'an object is not replaced by something else' "$(cat "$keys")" '{"key":"a"}'
"$HB_BIN" state --forget -y >/dev/null

# On a terminal.
rm "$file"
cat >"$work/drive.py" <<'P'
import os, pty, sys
answer, words = sys.argv[1], sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp(words[0], words)
seen = b""
while True:
    try:
        block = os.read(fd, 4096)
    except OSError:
        break
    if not block:
        break
    seen += block
    if b"[y/N] " in seen and answer:
        os.write(fd, answer.encode() + b"\n")
        answer = ""
os.waitpid(pid, 0)
sys.stdout.write(seen.decode(errors="replace").replace("\r", ""))
P
on_pty() {
	python3 "$work/drive.py" "$1" "$HB_BIN" claude "$(writes "$(login asked $far)")"
}
like 'a terminal is asked about a first login' "$(on_pty n)" \
	'*publish this login to ~/.claude? \[y/N\]*'
check_exit 'a login that the user declines is not published' 1 test -e "$file"
unlike 'a terminal is asked once' "$(on_pty y)" '*publish this login*'
"$HB_BIN" state --forget -y >/dev/null
like 'a login that is published after a question is said' "$(on_pty y)" \
	'*published the new login to ~/.claude*'
is 'a login that the user accepts is on the host' "$(flat "$file")" "$(login asked $far)"

# Things that are no login.
login old $due >"$file"
for plant in 'ln -s /etc/passwd' 'mkfifo' 'mkdir'; do
	agent "rm ~/.claude/.credentials.json; $plant ~/.claude/.credentials.json"
	is "no $plant is a login" "$(flat "$file")" "$(login old $due)"
	"$HB_BIN" cleanup -y @claude-1 >/dev/null 2>&1
	"$HB_BIN" state --forget -y >/dev/null
done
agent 'printf "{\"claudeAiOauth\":" >~/.claude/.credentials.json'
is 'an agent that was killed while it wrote its login leaves the old one' \
	"$(flat "$file")" "$(login old $due)"
like 'a login that is cut short is said' "$(cat "$work/.stderr")" \
	"*'$file' is not whole: the host's stays, and the next run has the last whole one*"
is "the next run has the host's login" "$(agent 'cat ~/.claude/.credentials.json')" "$(login old $due)"
agent "$(writes "$(login other $far)")"
is 'a login that waits is carried' "$(agent 'cat ~/.claude/.credentials.json')" "$(login other $far)"
for cut in '' '{' '{"claudeAiOauth":{"acc'; do
	agent "printf %s '$cut' >~/.claude/.credentials.json"
	is "a login that is cut to '$cut' leaves the one that was carried" \
		"$(agent 'cat ~/.claude/.credentials.json')" "$(login other $far)"
done
"$HB_BIN" state --forget -y >/dev/null

# The host's is changed meanwhile.
# What is shown passes no fifo to the host; what is not held back does.
mkdir "$work/sync"
mkfifo "$work/sync/go"
"$HB_BIN" --rw "$work/sync" claude \
	"cat '$work/sync/go' >/dev/null; $(writes "$(login inside $far)")" \
	2>"$work/.stderr" </dev/null &
pid=$!
wait_until test -e "$sessions/claude-1/publish"
login outside $due >"$home/.claude/t"
mv "$home/.claude/t" "$file"
echo >"$work/sync/go"
wait "$pid"
is 'a login that was changed outside wins' "$(flat "$file")" "$(login outside $due)"
like 'a line says that the login was changed outside' "$(cat "$work/.stderr")" \
	"*was changed outside meanwhile: the host's stays, and the session's is kept for the next run*"
is "the session's login is kept if the host's changed" \
	"$("$HB_BIN" state claude "$file")" "$(login inside $far)"
is "the next run has the host's login" \
	"$(agent 'cat ~/.claude/.credentials.json')" "$(login outside $due)"
"$HB_BIN" state --forget -y >/dev/null

# The supervisor is killed after the login was renewed.
"$HB_BIN" --rw "$work/sync" claude \
	"$(writes "$(login inside $far)"); echo >'$work/sync/go'; sleep 1000" \
	2>/dev/null </dev/null &
pid=$!
cat "$work/sync/go" >/dev/null
kill -9 "$pid"
wait "$pid" 2>/dev/null
is 'a killed run has published nothing' "$(flat "$file")" "$(login outside $due)"
lock_is_free() {
	flock -n "$sessions/claude-1/lock" true
}
wait_until lock_is_free
"$HB_BIN" ls >/dev/null 2>&1
is 'after kill -9 the next command publishes a renewed login' \
	"$(flat "$file")" "$(login inside $far)"
"$HB_BIN" cleanup -y @claude-1 >/dev/null 2>&1
"$HB_BIN" state --forget -y >/dev/null 2>&1
is 'a login published after kill -9 leaves no session' "$(left)" ''
is 'no temporary file is left on the host' "$(find "$home" -name '.holdback*')" ''
rm "$work/sync/go"
done_testing
