#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What each agent executes, or loads as instructions: none of it lies in a
# directory that a run has for real.  The rows are from the documents of the
# agents and from the sources of the versions in tests/agents/bed/pins; aider's
# are from its documents alone.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

home=$work/home
mkdir -p home/shop
HOME=$home
export HOME
cd home/shop || bail 'no directory'
slug=$(printf %s "$PWD" | tr -c 'a-zA-Z0-9' -)

# Agent, and a path below the home directory.
cat >"$work/rows" <<X
claude .claude/settings.json
claude .claude/settings.local.json
claude .claude/CLAUDE.md
claude .claude/rules/r.md
claude .claude/commands/c.md
claude .claude/agents/a.md
claude .claude/agent-memory/a/MEMORY.md
claude .claude/skills/s/SKILL.md
claude .claude/output-styles/o.md
claude .claude/workflows/w.js
claude .claude/plugins/installed_plugins.json
claude .claude/plugins/cache/p/hooks/hooks.json
claude .claude/hooks/h.sh
claude .claude/statusline.sh
claude .claude/keybindings.json
claude .claude/shell-snapshots/snapshot.sh
claude .claude/session-env/x/hook.sh
claude .claude/local/claude
claude .claude/projects/$slug/memory/MEMORY.md
claude .claude/projects/$slug/memory/topic.md
claude .claude/projects/other/memory/MEMORY.md
codex .codex/config.toml
codex .codex/hooks.json
codex .codex/AGENTS.md
codex .codex/AGENTS.override.md
codex .codex/rules/default.rules
codex .codex/prompts/p.md
codex .codex/skills/s/SKILL.md
codex .codex/agents/a.toml
codex .codex/plugins/p/plugin.json
codex .codex/memories/MEMORY.md
codex .codex/memories_1.sqlite
codex .codex/shell_snapshots/s.sh
codex .codex/tmp/arg0/apply_patch
codex .codex/packages/codex
opencode .config/opencode/opencode.json
opencode .config/opencode/config.json
opencode .config/opencode/AGENTS.md
opencode .config/opencode/plugin/p.ts
opencode .config/opencode/plugins/p.ts
opencode .config/opencode/tool/t.ts
opencode .config/opencode/agent/a.md
opencode .config/opencode/command/c.md
opencode .config/opencode/skills/s/SKILL.md
opencode .config/opencode/package.json
opencode .config/opencode/node_modules/m/index.js
opencode .local/share/opencode/bin/rg
opencode .local/share/opencode/snapshot/s/config
opencode .local/share/opencode/mcp-auth.json
opencode .local/state/opencode/kv.json
opencode .cache/opencode/node_modules/m/index.js
gemini .gemini/settings.json
gemini .gemini/GEMINI.md
gemini .gemini/.env
gemini .gemini/commands/c.toml
gemini .gemini/extensions/e/gemini-extension.json
gemini .gemini/skills/s/SKILL.md
gemini .gemini/agents/a.md
gemini .gemini/policies/p.toml
gemini .gemini/hooks/h.sh
gemini .gemini/trustedFolders.json
gemini .gemini/mcp-oauth-tokens.json
gemini .gemini/tmp/bin/rg
gemini .gemini/tmp/shop/memory/MEMORY.md
gemini .gemini/tmp/other/memory/MEMORY.md
gemini .gemini/history/shop/.git/config
aider .aider.conf.yml
aider .aider.model.settings.yml
aider .env
aider .aider/caches/model_prices_and_context_window.json
X
table() {
	sed -n "s|^$1 ||p" "$work/rows"
}

# real AGENT: a directory of the project that is real, or nothing.
real() {
	case $1 in
	claude) echo ".claude/projects/$slug" ;;
	gemini) echo .gemini/tmp/shop/chats ;;
	*) echo ;;
	esac
}
digest() {
	table "$1" | while read -r path; do
		cksum "$home/$path"
	done
}

for agent in claude codex opencode gemini aider; do
	table "$agent" | while read -r path; do
		mkdir -p "$home/${path%/*}"
		[ "${path%/*}" != "$path" ] || rmdir "$home/$path"
		echo host >"$home/$path"
	done
	[ "$agent" != gemini ] || printf %s "$PWD" >"$home/.gemini/tmp/shop/.project_root"
	before=$(digest "$agent")
	table "$agent" >paths
	real "$agent" >place
	"$HB_BIN" run -q --profile "$agent" -- sh -c '
		while read -r path; do
			mkdir -p "$HOME/${path%/*}"
			rm -f "$HOME/$path"
			echo planted >"$HOME/$path"
		done <paths
		read -r real <place
		[ -z "$real" ] || echo said >"$HOME/$real/talk"' 2>/dev/null
	is "nothing that $agent executes or obeys is written on the host" \
		"$(digest "$agent")" "$before"
	where=$(real "$agent")
	[ -z "$where" ] || is "a conversation of $agent is written on the host" \
		"$(cat "$home/$where/talk")" said
	"$HB_BIN" state --forget -y >/dev/null 2>&1
	"$HB_BIN" cleanup -y --all >/dev/null 2>&1
done
done_testing
