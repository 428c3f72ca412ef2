#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The state of an agent goes on from run to run of one project, and no further.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

home=$work/home
mkdir -p home/.claude home/.local/bin home/.local/share/claude p q
HOME=$home
PATH=$home/.local/bin:$PATH
export HOME PATH
printf '#!/bin/sh\neval "$1"\n' >home/.local/share/claude/claude
chmod +x home/.local/share/claude/claude
ln -s ../share/claude/claude home/.local/bin/claude
echo '{"mine":1}' >home/.claude/settings.json
echo '{"oauthAccount":"me"}' >home/.claude.json
cd p || bail 'no directory'

agent() {
	"$HB_BIN" -q "$@" 2>"$work/.stderr"
}
state() {
	"$HB_BIN" state "$@"
}

"$HB_BIN" claude 'echo yes >~/.claude/trust; echo "{\"theme\":1,\"oauthAccount\":\"me\"}" >~/.claude.json' \
	2>"$work/.stderr"
like 'one line says what is kept, and how to commit it' "$(cat "$work/.stderr")" \
	'*~/.claude: 2 files of agent state are kept for the next run; holdback commit --state*'
is 'an agent that was started and quit leaves no session' "$("$HB_BIN" ls)" ''
is 'the next run has the answers of the one before' \
	"$(agent claude 'cat ~/.claude/trust ~/.claude.json')" 'yes
{"theme":1,"oauthAccount":"me"}'
check_exit 'the host has none of it' 1 test -e "$home/.claude/trust"
is 'another project has none of it' \
	"$(cd ../q && agent claude 'cat ~/.claude/trust 2>/dev/null; cat ~/.claude.json')" \
	'{"oauthAccount":"me"}'

# Another agent of the same project has a line of its own.
cp "$home/.local/share/claude/claude" "$home/.local/bin/gemini"
agent gemini 'mkdir -p ~/.gemini; echo 1 >~/.gemini/sel; echo 1 >~/.gemini/set; echo a >work'
like 'commit says of each agent how much is kept, and where' "$("$HB_BIN" commit -y 2>&1 | sort)" \
	'*~/.claude: 2 files of agent state are kept*~/.gemini: 2 files of agent state are kept*'
"$HB_BIN" cleanup -y @gemini-1 >/dev/null
rm work "$home/.local/bin/gemini"

# An agent with several directories.
cp "$home/.local/share/claude/claude" "$home/.local/bin/opencode"
"$HB_BIN" opencode 'echo 1 >~/.local/share/opencode/account' 2>"$work/.stderr"
like 'the line at the end names the directory that has the files' "$(cat "$work/.stderr")" \
	'*~/.local/share/opencode: 1 file of agent state is kept*'
"$HB_BIN" opencode 'echo 2 >~/.local/share/opencode/account; echo 1 >~/.config/opencode/b; echo 1 >~/.config/opencode/a
	mkdir ~/.config/opencode/a.d; echo 1 >~/.config/opencode/a.d/c' 2>"$work/.stderr"
like 'of files in several directories the line names the agent' "$(cat "$work/.stderr")" \
	'*holdback: opencode: 4 files of agent state are kept*'
is 'the files are listed in the order of their paths' "$(state opencode | awk '{ sub(/^./, "", $3); print $3 }' | xargs)" \
	'/.config/opencode/a /.config/opencode/a.d/c /.config/opencode/b /.local/share/opencode/account'
state --forget -y opencode >/dev/null
rm "$home/.local/bin/opencode"

# The project is its directory, not the name.
mv ../p ../moved
is 'a project that was moved keeps its state' \
	"$(cd ../moved && agent claude 'cat ~/.claude/trust')" yes
mkdir ../p
is 'another directory of the same name has none' \
	"$(cd ../p && agent claude 'cat ~/.claude/trust 2>/dev/null; echo none')" none
rmdir ../p
mv ../moved ../p
cd ../p || bail 'no directory'

# A login that is published for one project is no change of the user's.
echo '{"oauthAccount":"renewed"}' >"$home/.claude.json"
is 'the next run has the login of the host' \
	"$(agent claude 'cat ~/.claude.json')" '{"theme":1,"oauthAccount":"renewed"}'
like 'a published login does not void the answers of other projects' \
	"$(agent claude 'cat ~/.claude.json')" '*theme*'

agent claude 'echo "{\"inside\":1}" >~/.claude/settings.json'
echo '{"mine":2}' >"$home/.claude/settings.json"
is "where the user changed a file the host's version wins" \
	"$(agent claude 'cat ~/.claude/settings.json')" '{"mine":2}'
like 'one line says so' "$(cat "$work/.stderr")" \
	"*settings.json' was changed outside since the last run*holdback state claude --take*"
is "the host's version wins in the next run as well" \
	"$(agent claude 'cat ~/.claude/settings.json')" '{"mine":2}'
is 'it is said once' "$(cat "$work/.stderr")" ''
state --take -y claude >/dev/null
is 'taken, the next run has the carried version' \
	"$(agent claude 'cat ~/.claude/settings.json')" '{"inside":1}'
state --forget -y claude >/dev/null

# What a run planted must not gain by the next one.
agent --net none claude 'echo planted >~/.claude/hook'
is 'a run with more rights does not get what one with less wrote' \
	"$(agent claude 'cat ~/.claude/hook 2>/dev/null; echo none')" none
like 'the command that takes it is said' "$(cat "$work/.stderr")" \
	'*was allowed less*holdback state claude --take*'
is 'a run that reaches fewer hosts does not hand on to one that reaches more' \
	"$(agent --net strict claude 'echo planted >~/.claude/other'
	agent claude 'cat ~/.claude/other 2>/dev/null; echo none')" none
is 'a run that reaches one more host does not get what another wrote' \
	"$(agent claude 'echo planted >~/.claude/third'
	agent --allow one.example claude 'cat ~/.claude/third 2>/dev/null; echo none')" none
is 'a run that reaches fewer hosts gets what one with more wrote' \
	"$(agent --net strict claude 'cat ~/.claude/third')" planted
agent claude 'rm ~/.claude/other ~/.claude/third' 2>/dev/null
state --forget -y claude >/dev/null
agent --net none claude 'echo planted >~/.claude/hook'
is 'a run with the same rights gets it' "$(agent --net none claude 'cat ~/.claude/hook')" planted
like 'of one file it is said as of one' "$(agent claude true; cat "$work/.stderr")" \
	"*1 file of agent state was written by a run that was allowed less: this run has the host's version; to have the carried one: *"
is 'of files in two places it is said in one line' "$(agent --net none claude 'echo "{\"b\":1}" >~/.claude.json'
	agent claude true; grep -c 'allowed less' "$work/.stderr"; grep -o '[0-9]* files of agent state were' "$work/.stderr")" \
	"$(printf '1\n2 files of agent state were')"
is 'a direct run does not get it either' \
	"$(agent --direct claude 'cat ~/.claude/hook 2>/dev/null; echo none')" none
like 'a direct run is told so' "$(cat "$work/.stderr")" '*was allowed less*holdback state claude --take*'
agent --direct claude 'echo planted >~/.claude/direct'
is 'what a direct run planted is not there in another project' \
	"$(mkdir -p ../other && cd ../other && agent --direct claude 'cat ~/.claude/direct 2>/dev/null; echo none')" none
is 'it is there in the next direct run of the project' "$(agent --direct claude 'cat ~/.claude/direct')" planted
mkdir "$work/real"
is 'one more real directory is more' \
	"$(agent --net none --rw "$work/real" claude 'cat ~/.claude/hook 2>/dev/null; echo none')" none
# The socket of an agent of keys is one more way out.
python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])' "$work/real/keys"
is 'the socket of another program is more' \
	"$(agent --net none --socket "$work/real/keys" claude 'cat ~/.claude/hook 2>/dev/null; echo none')" none
like 'a run with a socket is told how to have the carried one' "$(cat "$work/.stderr")" \
	'*was allowed less*holdback state claude --take*'
is 'a run without the socket has it' "$(agent --net none claude 'cat ~/.claude/hook')" planted
agent --net none --socket "$work/real/keys" claude 'echo wide >~/.claude/wide'
is 'what a run with a socket wrote is there in a run without one' \
	"$(agent --net none claude 'cat ~/.claude/wide')" wide
rm "$work/real/keys"
state --forget -y claude >/dev/null

# Two at once.
mkfifo "$work/real/go"
agent --rw "$work/real" claude "cat '$work/real/go' >/dev/null
	echo first >~/.claude/both; echo 1 >~/.claude/one" &
pid=$!
wait_until test -e "$home/.local/state/holdback/sessions/claude-1/carry"
agent --rw "$work/real" claude 'echo second >~/.claude/both; echo 2 >~/.claude/two'
echo >"$work/real/go"
wait "$pid"
is 'of two runs at once the later end wins, and both have their own' \
	"$(agent --rw "$work/real" claude 'cat ~/.claude/both ~/.claude/one ~/.claude/two')" \
	'first
1
2'
rm "$work/real/go"
state --forget -y claude >/dev/null

agent --ephemeral claude 'echo x >~/.claude/passing; echo x >passing'
unlike '--ephemeral leaves no state' "$(state)" '*passing*'
agent claude 'echo x >~/.claude/wrong; echo x >wrong'
"$HB_BIN" rollback -y >/dev/null
unlike 'rollback forgets the state of its session' "$(state)" '*wrong*'
"$HB_BIN" cleanup -y >/dev/null

agent claude 'rm ~/.claude/settings.json'
is 'what was removed stays removed inside' \
	"$(agent claude 'cat ~/.claude/settings.json 2>/dev/null; echo none')" none
is 'what was removed inside is there outside' "$(cat "$home/.claude/settings.json")" '{"mine":2}'
like 'the list says that it was removed' "$(state)" '*settings.json (removed)*'
is 'the document has the class of every file' \
	"$(state --json | grep -o '"class":"[a-z]*"' | sort -u)" '"class":"runs"'
state --forget -y >/dev/null
is 'nothing is carried after --forget' "$(state)" 'no state of an agent is carried here'

# A walk finds them in any order, so there are many.
pairs='for n in a b c d e f g h i j k l; do'
agent claude "$pairs"' echo d >~/.claude/$n.db; echo w >~/.claude/$n.db-wal; done'
is 'a database is carried with its side file, whichever is found first' \
	"$(agent claude 'cat ~/.claude/*.db-wal | wc -l')" 12
agent claude "$pairs"' echo e >~/.claude/$n.db; rm ~/.claude/$n.db-wal; done'
is 'a side file that the agent removed is not carried' \
	"$(agent claude 'cat ~/.claude/*.db | wc -l; ls ~/.claude | grep -c wal')" "$(printf '12\n0')"
state --forget -y >/dev/null

# Its file at the top of the home directory is settings, and a login.
echo '{"mcpServers":{},"oauthAccount":"me"}' >"$home/.claude.json"
agent claude 'echo "{\"mcpServers\":{\"new\":1},\"oauthAccount\":\"forged\"}" >~/.claude.json
	echo x >~/.claude/settings.json; echo x >made'
like 'a text diff names the state' "$("$HB_BIN" diff)" \
	'*# agent state: 2 files, kept for the next run (holdback state)*'
"$HB_BIN" cleanup -y --all >/dev/null
agent claude 'echo "{\"mcpServers\":{\"new\":1},\"oauthAccount\":\"forged\"}" >~/.claude.json
	echo x >~/.claude/settings.json'
check 'state at the top of the home directory can be committed' \
	"$HB_BIN" commit --state -y --allow agent --allow home
is 'its settings are on the host then, and its login is not' \
	"$(cat "$home/.claude.json" "$home/.claude/settings.json")" \
	'{"mcpServers":{"new":1},"oauthAccount":"me"}
x'
is 'what was committed is carried no more' "$(state)" 'no state of an agent is carried here'
"$HB_BIN" cleanup -y --all >/dev/null
agent claude 'echo "{\"mcpServers\":{\"new\":2}}" >~/.claude.json; echo z >~/.claude/settings.json
	mkdir -p ~/.claude/todos ~/.claude/debug; echo x >~/.claude/todos/x; echo x >~/.claude/debug/x'
is 'commit --state asks about the files that are run or obeyed, and no other' \
	"$("$HB_BIN" commit --state -y 2>&1 | sed -n 's/^ask: \([^ ]*\): .*/\1/p' | sort | tr '\n' ' ')" \
	"$home/.claude.json $home/.claude/settings.json "
check 'the rule of agents is enough for it' "$HB_BIN" commit --state -y --allow agent
is 'it makes no directory of data' "$(ls -d "$home/.claude/todos" "$home/.claude/debug" 2>/dev/null)" ''
"$HB_BIN" cleanup -y --all >/dev/null
state --forget -y >/dev/null
agent claude 'echo half >~/.claude.json; echo y >~/.claude/settings.json'
like 'commit --state names a file that is not whole' \
	"$("$HB_BIN" commit --state -y --allow agent --allow home 2>&1)" \
	"*'$home/.claude.json' of the agent's state is left out (it is not whole), and stays carried; to see it: holdback state claude*committed*"
is 'the rest of the state is committed' "$(cat "$home/.claude/settings.json")" y
like 'a file that is not whole stays carried' "$(state)" '*~/.claude.json*'
state --forget -y >/dev/null
"$HB_BIN" cleanup -y --all >/dev/null

# What is beyond the bound is not lost.
agent claude 'dd if=/dev/zero of="$HOME/.claude/huge" bs=1M count=17 2>/dev/null'
like 'a file that is too large is said' "$(cat "$work/.stderr")" \
	"*huge' is not carried to the next run (the state is too large): it stays in the session*"
check 'a file that is too large stays in the session' \
	"$HB_BIN" exec @claude-1 -- test -s "$home/.claude/huge"
"$HB_BIN" cleanup -y @claude-1 >/dev/null 2>&1

# All of it together has a bound, and each file is looked at once.
agent claude 'for i in 1 2 3 4 5; do truncate -s 15M ~/.claude/large$i; done'
like 'what is too large together stays in the session' "$(cat "$work/.stderr")" \
	"*/.claude/large?' is not carried to the next run (the state is too large): it stays in the session*"
is 'as much as there is room for is carried' "$(state claude | grep -c 'large.*15 MB\|large.*16 MB')" 4
"$HB_BIN" cleanup -y --all >/dev/null 2>&1
state --forget -y claude >/dev/null
if strace -o "$work/.calls" true 2>/dev/null; then
	strace -f -qq -e trace=pread64 -o "$work/.calls" "$HB_BIN" claude \
		'for i in $(seq 80); do echo x >~/.claude/many$i; done' 2>/dev/null
	check 'a run that leaves 80 files does not read each of them for each other' \
		[ "$(wc -l <"$work/.calls")" -lt 1600 ]
else
	skip 'a run that leaves 80 files does not read each of them for each other' 'nothing can be traced here'
fi
state --forget -y claude >/dev/null

# A store that was tampered with.
agent claude 'echo x >~/.claude/f'
for file in "$home"/.local/state/holdback/agents/*/claude/????*[0-9a-f]; do
	[ "${file##*/}" = lock ] || echo garbage >"$file"
done
is 'a damaged file is no state, and the run goes on' \
	"$("$HB_BIN" claude 'cat ~/.claude/f 2>/dev/null; echo runs' 2>"$work/.stderr")" runs
like 'a damaged file is said' "$(cat "$work/.stderr")" \
	'*1 file of the carried state of claude is damaged: this run is without it*holdback state claude --forget*'
agent claude 'echo y >~/.claude/g'
echo half >"$(echo "$home"/.local/state/holdback/agents/*/claude)/new-0123"
like 'what is damaged is forgotten with the rest' "$(state --forget -y claude)" 'forgot 2 files*'
is 'nothing is left of a state that was forgotten' \
	"$(find "$home/.local/state/holdback/agents" -mindepth 1 2>/dev/null)" ''
rm -rf "$home/.local/state/holdback/agents"
ln -s /tmp "$home/.local/state/holdback/agents"
agent claude true
like 'a link in the place of the store is refused' "$(cat "$work/.stderr")" \
	"*'agents' in the store is no directory of yours alone*"
rm "$home/.local/state/holdback/agents"
done_testing
