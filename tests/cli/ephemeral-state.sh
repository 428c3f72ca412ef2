#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The state of an agent in a run without a session: data of the host is neither
# seen nor written, all else is seen, and nothing of it stays.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

home=$work/home
mkdir -p home/p
HOME=$home
export HOME
cd home/p || bail 'no directory'
slug=$(printf %s "$PWD" | tr -c 'a-zA-Z0-9' -)

# Agent, whether its host's file is seen, and a path below the home directory.
cat >"$work/rows" <<X
claude hidden .claude/history.jsonl
claude hidden .claude/stats-cache.json
claude hidden .claude/projects/other/talk.jsonl
claude hidden .claude/projects/$slug/talk.jsonl
claude seen .claude/projects/$slug/memory/MEMORY.md
claude seen .claude/settings.json
claude seen .claude/.credentials.json
claude seen .claude.json
codex hidden .codex/history.jsonl
codex hidden .codex/sessions/2026/talk.jsonl
codex hidden .codex/state_5.sqlite
codex hidden .codex/state_5.sqlite-wal
codex hidden .codex/logs_2.sqlite
codex seen .codex/config.toml
codex seen .codex/auth.json
opencode hidden .local/share/opencode/opencode.db
opencode hidden .local/share/opencode/opencode.db-wal
opencode hidden .local/share/opencode/storage/talk.json
opencode hidden .local/state/opencode/prompt-history.jsonl
opencode seen .local/share/opencode/auth.json
opencode seen .config/opencode/opencode.json
gemini hidden .gemini/projects.json
gemini hidden .gemini/tmp/p/chats/talk.json
gemini hidden .gemini/tmp/other/chats/talk.json
gemini seen .gemini/settings.json
gemini seen .gemini/oauth_creds.json
X
rows() {
	sed -n "s|^$1 $2 ||p" "$work/rows"
}
digest() {
	find "$home" -path "$home/.local/state/holdback" -prune -o -type f -print | sort |
		xargs cksum
}
passing() {
	agent=$1
	shift
	"$HB_BIN" run -q --ephemeral --profile "$agent" -- "$@"
}

for agent in claude codex opencode gemini; do
	for path in $(rows $agent seen) $(rows $agent hidden); do
		mkdir -p "$home/${path%/*}"
		[ "${path%/*}" != "$path" ] || rmdir "$home/$path"
		echo "host $path" >"$home/$path"
	done
	[ $agent != gemini ] || printf %s "$PWD" >"$home/.gemini/tmp/p/.project_root"
	rows $agent seen >seen
	rows $agent hidden >hidden
	before=$(digest)
	is "what the host has as data is not seen by $agent without a session" \
		"$(passing $agent sh -c 'while read -r p; do cat ~/"$p" 2>/dev/null; done <hidden')" ''
	is "settings and logins of the host are seen by $agent without a session" \
		"$(passing $agent sh -c 'while read -r p; do cat ~/"$p"; done <seen' 2>&1)" \
		"$(sed 's/^/host /' seen)"
	is "all of it can be written and replaced by $agent without a session" \
		"$(passing $agent sh -ec 'cat seen hidden | while read -r p; do
				mkdir -p ~/"${p%/*}" 2>/dev/null || :
				echo new >>~/"$p"; echo newer >~/t; mv ~/t ~/"$p"
				cat ~/"$p"; rm ~/"$p"
			done' 2>&1 | sort -u)" newer
	is "the host's files are as before for $agent" "$(digest)" "$before"
	is "nothing of the run is carried for $agent" "$("$HB_BIN" state)" \
		'no state of an agent is carried here'
done
is 'no session is left' "$("$HB_BIN" ls)" ''

# What is carried for the project is not for such a run, and stays.
"$HB_BIN" run -q --profile claude -- sh -c 'echo carried >~/.claude/trust; echo mine >~/.claude/history.jsonl'
is 'a run without a session has nothing that is carried' \
	"$(passing claude sh -c 'cat ~/.claude/trust ~/.claude/history.jsonl 2>/dev/null; rm -rf ~/.claude/trust')" ''
is 'what is carried is there in the next run with a session' \
	"$("$HB_BIN" run -q --profile claude -- sh -c 'cat ~/.claude/trust ~/.claude/history.jsonl')" 'carried
mine'
"$HB_BIN" state --forget -y >/dev/null

# A link in the place of data is none.
rm "$home/.claude/history.jsonl"
echo secret >"$home/p/target"
ln -s "$home/p/target" "$home/.claude/history.jsonl"
is 'a link in the place of data is not followed' \
	"$(passing claude sh -c 'echo new >~/.claude/history.jsonl; cat target')" secret
like 'why names the row that leaves data out' \
	"$("$HB_BIN" why "$home/.claude/stats-cache.json" run --ephemeral --profile claude -- true)" \
	'*it is not there*data = ~/.claude/stats-cache.json*'
done_testing
