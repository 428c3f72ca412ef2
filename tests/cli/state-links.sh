#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The directory of an agent's state is a link, or lies behind one, as in a home
# that is kept with dot files.  It is what it is without the link.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

home=$work/home
mkdir -p home/.local/bin home/dot/claude/ide home/dot/share p away
HOME=$home
PATH=$home/.local/bin:$PATH
export HOME PATH
for name in claude opencode; do
	printf '#!/bin/sh\neval "$1"\n' >"home/.local/bin/$name"
	chmod +x "home/.local/bin/$name"
done
cd p || bail 'no directory'
agent() {
	"$HB_BIN" -q "$@" 2>"$work/.stderr"
}
real=$home/dot/claude
ln -s dot/claude "$home/.claude"
slug=$(pwd -P | sed 's/[^A-Za-z0-9]/-/g')
far=$((($(date +%s) + 99999) * 1000))
login="{\"claudeAiOauth\":{\"accessToken\":\"a\",\"expiresAt\":$far}}"

# One that is a link.
echo token >"$real/ide/1.lock"
echo '{"mine":1}' >"$real/settings.json"
is 'the token of an editor is hidden behind a link' "$(agent claude 'cat ~/.claude/ide/* 2>/dev/null')" ''
agent claude "echo '$login' >~/.claude/.credentials.json; echo '{\"hooks\":1}' >~/.claude/settings.json
	echo prompt >~/.claude/history.jsonl; echo said >~/.claude/projects/$slug/talk.jsonl
	echo obey >~/.claude/projects/$slug/memory/MEMORY.md"
is 'files behind a link have the class that they have without it' \
	"$("$HB_BIN" state claude | sed -n 's|^ *\([a-z]*\) *claude *~/dot/claude/\([^ ]*\).*|\1 \2|p' | sort)" \
	"$(printf '%s\n' 'data history.jsonl' 'login .credentials.json' "runs projects/$slug/memory/MEMORY.md" \
		'runs settings.json')"
is 'the conversations of this project are real behind a link' "$(cat "$real/projects/$slug/talk.jsonl")" said
check_exit 'nothing that is obeyed reached the host behind a link' 1 \
	test -e "$real/projects/$slug/memory/MEMORY.md"
is 'the settings of the host behind a link are as before' "$(cat "$real/settings.json")" '{"mine":1}'
is 'the next run has what was carried behind a link' \
	"$(agent claude "cat ~/.claude/history.jsonl ~/.claude/projects/$slug/memory/MEMORY.md ~/.claude/settings.json")" \
	"$(printf 'prompt\nobey\n{"hooks":1}')"
check 'a login behind a link is published by its command' "$HB_BIN" state claude --publish
is 'a login that was published is behind the link' "$(tr -d ' \n' <"$real/.credentials.json")" "$login"
is 'commit --state asks about files behind a link' \
	"$("$HB_BIN" commit --state -y 2>&1 | sed -n 's/^ask: \([^ ]*\): .*\[\(.*\)\]$/\2 \1/p' | sort)" \
	"$(printf '%s\n' "agent $real/projects/$slug/memory/MEMORY.md" "agent $real/settings.json" | sort)"
check 'the rule of agents is enough for files behind a link' "$HB_BIN" commit --state -y --allow agent
is 'committed settings are behind the link' "$(cat "$real/settings.json")" '{"hooks":1}'
is 'the link to the state is as it was' "$(readlink "$home/.claude")" dot/claude
is 'without a session no data behind a link is seen' \
	"$(echo x >"$real/history.jsonl"; echo x >"$real/a.log"
		agent --ephemeral claude 'cat ~/.claude/history.jsonl ~/.claude/a.log 2>/dev/null')" \
	"$(rm "$home/.claude"; mv "$real" "$home/.claude"
		agent --ephemeral claude 'cat ~/.claude/history.jsonl ~/.claude/a.log 2>/dev/null'
		mv "$home/.claude" "$real"; ln -s dot/claude "$home/.claude")"
"$HB_BIN" state --forget -y >/dev/null

# One that is missing, behind a link.
rm -rf "$home/.local/share"
ln -s ../dot/share "$home/.local/share"
agent opencode 'echo 1 >~/.local/share/opencode/account'
is 'a missing directory behind a link is made, and is carried from' \
	"$(agent opencode 'cat ~/.local/share/opencode/account')" 1
is 'it is made where the link leads' "$(cd "$home/dot/share" && find . | sort | xargs)" '. ./opencode'
"$HB_BIN" state --forget -y >/dev/null
rm -r "$home/dot/share/opencode" "$home/.local/share"
ln -s "$work/away" "$home/.local/share"
says 'a missing directory that would lie outside of the home is refused' 125 \
	"*'$home/.local/share' is a link, and '$home/.local/share/opencode' does not exist*fix: mkdir -p $home/.local/share/opencode" \
	"$HB_BIN" opencode true
mkdir "$work/away/opencode"
agent opencode 'echo 2 >~/.local/share/opencode/account'
is 'once it was made it is carried from' "$(agent opencode 'cat ~/.local/share/opencode/account')" 2
rm "$home/.local/share"
mkdir "$work/p/share"
ln -s "$work/p/share" "$home/.local/share"
says 'a missing directory that would lie in the project is refused' 125 \
	"*'$home/.local/share*fix: *" "$HB_BIN" opencode true
mkdir "$work/p/share/opencode"
says 'a directory that lies in the project by a link above it is refused' 125 \
	"*'$home/.local/share/opencode' leads to '$work/p/share/opencode', where the agent's state could not be kept*" \
	"$HB_BIN" opencode true
check 'a run that keeps nothing goes on with a link into the project' \
	"$HB_BIN" run --ephemeral -q -- opencode true
rm "$home/.local/share"

# A project in the home directory, and a file at the top of that.
mkdir "$home/p"
cd "$home/p" || bail 'no directory'
for kind in 'behind a link' 'in the home directory'; do
	rm -f "$real"/*.json
	writes='echo "{\"theme\":1}" >~/.claude.json; echo "{\"x\":1}" >~/.claude/settings.json'
	agent claude "$writes"
	is "of a project in the home all state is asked about, $kind" \
		"$("$HB_BIN" commit --state -y 2>&1 | grep -c '^ask: .*settings.json: .*\[agent\]$\|^ask: .*/.claude.json: ')" 2
	check "of a project in the home all state is committed, $kind" \
		"$HB_BIN" commit --state -y --allow agent
	is "it is on the host, $kind" "$(cat "$home/.claude.json" "$home/.claude/settings.json")" \
		"$(printf '{"theme":1}\n{"x":1}')"
	check "a commit of state is taken back, $kind" "$HB_BIN" undo
	is "the host has no file of it then, $kind" \
		"$(cat "$home/.claude.json" "$home/.claude/settings.json" 2>/dev/null)" ''
	check "it is committed again, $kind" "$HB_BIN" redo
	is "it is on the host again, $kind" "$(cat "$home/.claude.json" "$home/.claude/settings.json")" \
		"$(printf '{"theme":1}\n{"x":1}')"
	"$HB_BIN" cleanup -y --all >/dev/null
	rm "$home/.claude.json" "$real/settings.json"
	[ ! -L "$home/.claude" ] || { rm "$home/.claude" && mv "$real" "$home/.claude"; }
	real=$home/.claude
done
done_testing
