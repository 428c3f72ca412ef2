#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What an agent keeps: nothing that runs reaches the host, and of conversations
# only those of the project are seen and written.
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
	agent "echo '{\"theme\":\"m$mode\"}' >~/.claude.json
		echo x >f; chmod $mode ~"
	is "a home of mode $mode is carried from" \
		"$(agent 'cat ~/.claude.json')" "{\"theme\":\"m$mode\"}"
	is "nothing is said of mode $mode" "$(cat "$work/.stderr")" ''
	check "the session goes on after mode $mode" \
		"$HB_BIN" exec @claude-1 -- test -e f
	"$HB_BIN" cleanup -y @claude-1 >/dev/null
	"$HB_BIN" state --forget -y >/dev/null
done

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

# Conversations: of this project, and of no other.
slug=$(printf %s "$work/p" | tr -c 'a-zA-Z0-9' -)
mkdir -p "$home/.claude/projects/other/memory" "$home/.claude/projects/$slug/memory"
echo secret >"$home/.claude/projects/other/talk.jsonl"
echo secret >"$home/.claude/history.jsonl"
echo mine >"$home/.claude/projects/$slug/memory/MEMORY.md"
agent "echo said >~/.claude/projects/$slug/talk.jsonl"
is 'the conversations of this project are real' \
	"$(cat "$home/.claude/projects/$slug/talk.jsonl")" said
printf '#!/bin/sh\necho runs\n' >"$home/.claude/projects/$slug/tool"
chmod +x "$home/.claude/projects/$slug/tool"
is 'nothing in the data of an agent is executed' \
	"$(agent "exec ~/.claude/projects/$slug/tool" 2>/dev/null)" ''
is 'no conversation of another project is seen' \
	"$(agent 'ls ~/.claude/projects; cat ~/.claude/history.jsonl 2>/dev/null')" "$slug"
agent 'echo prompt >>~/.claude/history.jsonl; mkdir -p ~/.claude/projects/other; echo x >~/.claude/projects/other/talk.jsonl'
is 'what is hidden is not written either' \
	"$(cat "$home/.claude/history.jsonl" "$home/.claude/projects/other/talk.jsonl")" 'secret
secret'
is 'data of this project is carried' "$(agent 'cat ~/.claude/history.jsonl')" prompt
is 'the memory of the project is seen' \
	"$(agent "cat ~/.claude/projects/$slug/memory/MEMORY.md")" mine
agent "echo obey >~/.claude/projects/$slug/memory/MEMORY.md; echo new >~/.claude/projects/$slug/memory/more"
is 'memory that is written inside does not reach the host' \
	"$(cat "$home/.claude/projects/$slug/memory/"*)" mine
is 'memory that is written inside is there in the next run' \
	"$(agent "cat ~/.claude/projects/$slug/memory/*")" 'obey
new'
is 'memory is of the class that runs' \
	"$("$HB_BIN" state claude | grep -c 'runs .*memory/')" 2
agent "rm ~/.claude/projects/$slug/memory/*"
is 'memory that was removed inside stays removed there' \
	"$(agent "ls ~/.claude/projects/$slug/memory")" ''
is 'memory that was removed inside is there outside' \
	"$(cat "$home/.claude/projects/$slug/memory/MEMORY.md")" mine
is 'without a session no conversation is seen or written' \
	"$("$HB_BIN" -q --ephemeral claude "cat ~/.claude/projects/other/talk.jsonl; echo x >~/.claude/projects/$slug/talk.jsonl" 2>/dev/null)" ''
is 'a run without a session leaves the conversation' \
	"$(cat "$home/.claude/projects/$slug/talk.jsonl")" said
"$HB_BIN" state --forget -y >/dev/null
is 'no mark of an overlay is left that would be a deletion' "$(left)" ''
done_testing
