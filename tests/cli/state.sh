#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What an agent keeps: nothing that runs reaches the host, and a login that was
# renewed does, whatever ends the run.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

# A home with an agent, as its installer would leave it.
home=$work/home
mkdir -p home/.claude/projects home/.local/bin home/.local/share/claude p
HOME=$home
PATH=$home/.local/bin:$PATH
export HOME PATH
cat >home/.local/share/claude/claude <<'X'
#!/bin/sh
eval "$1"
X
chmod +x home/.local/share/claude/claude
ln -s ../share/claude/claude home/.local/bin/claude
echo '{"token":"old"}' >home/.claude/.credentials.json
echo '{"mcpServers":{"mine":{}},"oauthAccount":"old","x":[1]}' >home/.claude.json
cd p || bail 'no directory'

# agent SCRIPT: what it does; quietly, for the network is the host's.
agent() {
	"$HB_BIN" -q claude "$1" 2>"$work/.stderr"
}
sessions=$home/.local/state/holdback/sessions
left() {
	(cd "$home/.local/state/holdback" &&
		find sessions pending -mindepth 1 -maxdepth 1 2>/dev/null) | sort
}
# Everything of the home directory but the store and mere data.
digest() {
	find "$home" -path "$home/.local/state" -prune -o -print |
		sort | while read -r name; do
		[ -f "$name" ] && sum=$(cksum <"$name") || sum=-
		echo "$name $(stat -c '%f %h' "$name") $sum"
	done
}

is 'the agent sees its state' \
	"$(agent 'cat ~/.claude/.credentials.json ~/.claude.json')" \
	"$(cat "$home/.claude/.credentials.json" "$home/.claude.json")"
is 'a run that only reads its state leaves no session' "$(left)" ''

# The mode of its home directory is the command's to set.
for mode in 0 755 777; do
	agent "echo '{\"oauthAccount\":\"m$mode\"}' >~/.claude.json
		echo x >f; chmod $mode ~"
	like "a home of mode $mode is published from" \
		"$(cat "$home/.claude.json")" "*\"m$mode\"*"
	is "nothing is said of mode $mode" "$(cat "$work/.stderr")" ''
	check "the session goes on after mode $mode" \
		"$HB_BIN" exec @claude-1 -- test -e f
	"$HB_BIN" cleanup -y @claude-1 >/dev/null
done
echo '{"mcpServers":{"mine":{}},"oauthAccount":"old","x":[1]}' >"$home/.claude.json"

before=$(digest)
agent 'mkdir ~/.claude/hooks; echo evil >~/.claude/hooks/x
	echo "{\"hooks\":{}}" >~/.claude/settings.json
	echo "{\"mcpServers\":{\"evil\":{}},\"hooks\":1,\"x\":2,\"env\":{\"A\":1}}" >~/.claude.json
	echo "#!/bin/sh" >~/.bashrc
	rm ~/.local/bin/claude; echo evil >~/.local/share/claude/claude
	echo evil >~/.local/bin/git' 2>/dev/null
is 'a hook, a server, settings, another agent: the host is as it was' \
	"$(digest)" "$before"
is 'an agent that writes nothing but its state leaves no session' "$(left)" ''
like 'its state is carried' "$("$HB_BIN" state claude)" \
	'*runs  claude   ~/.claude/settings.json*'
agent 'mkdir src; echo new >src/file; echo more >~/.claude/hooks/y'
like 'the state is a section of its own behind the project' \
	"$("$HB_BIN" status @claude-1)" \
	'*A src/*agent state, kept for the next run*~/.claude/hooks/x*'
is 'a patch of the session is the project alone' \
	"$("$HB_BIN" diff @claude-1 | grep ^diff)" \
	'diff --git a/src/file b/src/file'
check 'the next command in the session has the state' \
	"$HB_BIN" exec @claude-1 -- grep -q hooks "$home/.claude/settings.json"
check 'a session with state can be thrown away' "$HB_BIN" cleanup -y @claude-1
is 'no session is left after that' "$(left)" ''
unlike 'cleanup forgets the state that the session wrote' \
	"$("$HB_BIN" state claude)" '*hooks/y*'
check 'the rest of the state is forgotten by name' "$HB_BIN" state --forget -y claude

mkdir "$home/.claude/ide"
echo token >"$home/.claude/ide/1.lock"
is 'the token of an editor is hidden' "$(agent 'cat ~/.claude/ide/1.lock 2>/dev/null')" ''
is 'the host has the token of the editor' "$(cat "$home/.claude/ide/1.lock")" token

agent 'echo said >~/.claude/projects/log'
printf '#!/bin/sh\necho runs\n' >"$home/.claude/projects/tool"
chmod +x "$home/.claude/projects/tool"
is 'nothing in the data of an agent is executed' \
	"$(agent 'exec ~/.claude/projects/tool' 2>/dev/null)" ''
is 'conversations are real' "$(cat "$home/.claude/projects/log")" said

agent 'echo "{\"token\":\"new\"}" >~/.claude/t && mv ~/.claude/t ~/.claude/.credentials.json'
is 'a renewed login reaches the host' \
	"$(cat "$home/.claude/.credentials.json")" '{"token":"new"}'
is 'with its mode' "$(stat -c %a "$home/.claude/.credentials.json")" 644
is 'a renewed login leaves no session' "$(left)" ''
agent 'echo "{\"oauthAccount\":\"new\",\"mcpServers\":{\"evil\":{}}}" >~/t && mv ~/t ~/.claude.json'
is 'of the other file only what is data' "$(cat "$home/.claude.json")" \
	'{"mcpServers":{"mine":{}},"oauthAccount":"new","x":[1]}'

# Things that are no login.
for plant in 'ln -s /etc/passwd' 'mkfifo' 'mkdir'; do
	agent "rm ~/.claude/.credentials.json; $plant ~/.claude/.credentials.json"
	is "no $plant" "$(cat "$home/.claude/.credentials.json")" '{"token":"new"}'
	"$HB_BIN" cleanup -y @claude-1 >/dev/null 2>&1
	"$HB_BIN" state --forget -y >/dev/null
done
agent 'printf "{\"token\":" >~/.claude/.credentials.json'
is 'nothing that is cut short' \
	"$(cat "$home/.claude/.credentials.json")" '{"token":"new"}'
like 'a login that is not published is said' "$(cat "$work/.stderr")" \
	"*'$home/.claude/.credentials.json' is not whole: the host's stays*"
"$HB_BIN" state --forget -y >/dev/null

# The host's is changed meanwhile.
# What is shown passes no fifo to the host; what is not held back does.
mkdir "$work/sync"
mkfifo "$work/sync/go"
renew='echo "{\"token\":\"inside\"}" >~/.claude/.credentials.json'
"$HB_BIN" -q --rw "$work/sync" claude "cat '$work/sync/go' >/dev/null; $renew" \
	2>"$work/.stderr" &
pid=$!
wait_until test -e "$sessions/claude-1/publish"
echo '{"token":"outside"}' >"$home/.claude/t"
mv "$home/.claude/t" "$home/.claude/.credentials.json"
echo >"$work/sync/go"
wait "$pid"
is 'a change outside wins' "$(cat "$home/.claude/.credentials.json")" \
	'{"token":"outside"}'
like 'one line says so' "$(cat "$work/.stderr")" \
	"*was changed outside meanwhile: the host's stays, and the session's is kept for the next run*"
is "the session's login is kept if the host's changed" \
	"$("$HB_BIN" state claude "$home/.claude/.credentials.json")" '{"token":"inside"}'
is "the next run has the host's login" \
	"$(agent 'cat ~/.claude/.credentials.json')" '{"token":"outside"}'
"$HB_BIN" state --forget -y >/dev/null

# The supervisor is killed after the login was renewed.
"$HB_BIN" -q --rw "$work/sync" claude \
	"$renew; echo '{\"oauthAccount\":\"killed\"}' >~/.claude.json
	echo >'$work/sync/go'; sleep 1000" 2>/dev/null &
pid=$!
cat "$work/sync/go" >/dev/null
kill -9 "$pid"
wait "$pid" 2>/dev/null
is 'not there yet' "$(cat "$home/.claude/.credentials.json")" \
	'{"token":"outside"}'
lock_is_free() {
	flock -n "$sessions/claude-1/lock" true
}
wait_until lock_is_free
"$HB_BIN" ls >/dev/null 2>&1
is 'after kill -9 the next command publishes it' \
	"$(cat "$home/.claude/.credentials.json")" '{"token":"inside"}'
is 'both files' "$(cat "$home/.claude.json")" \
	'{"mcpServers":{"mine":{}},"oauthAccount":"killed","x":[1]}'
"$HB_BIN" cleanup -y @claude-1 >/dev/null 2>&1
"$HB_BIN" state --forget -y >/dev/null 2>&1
is 'a login published after kill -9 leaves no session' "$(left)" ''
is 'no temporary file either' "$(find "$home" -name '.holdback*')" ''
rm "$work/sync/go"
done_testing
