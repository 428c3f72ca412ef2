#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What each agent executes, or loads as instructions: none of it lies in a
# directory that a run has for real.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

home=$work/home
mkdir -p home/shop
HOME=$home
export HOME
cd home/shop || bail 'no directory'
slug=$(printf %s "$PWD" | tr -c 'a-zA-Z0-9' -)

# Agent, a path below the home directory, and the source: "package", where the
# version in tests/agents/bed/pins has the name in its program, or the page of
# the agent's documents: code.claude.com/docs, developers.openai.com/codex,
# opencode.ai/docs, the docs folder of gemini-cli, aider.chat/docs/config.
cat >"$work/rows" <<X
claude .claude.json package
claude .claude/.config.json package
claude .claude/settings.json claude-directory
claude .claude/settings.local.json package
claude .claude/remote-settings.json package
claude .claude/CLAUDE.md claude-directory
claude .claude/rules/r.md claude-directory
claude .claude/loop.md package
claude .claude/commands/c.md claude-directory
claude .claude/agents/a.md claude-directory
claude .claude/agent-memory/a/MEMORY.md claude-directory
claude .claude/memory/personal/MEMORY.md package
claude .claude/skills/s/SKILL.md claude-directory
claude .claude/mcp-skill-archives/s/SKILL.md package
claude .claude/output-styles/o.md claude-directory
claude .claude/themes/t.json package
claude .claude/workflows/w.js package
claude .claude/routines/r.md package
claude .claude/teams/t/config.json package
claude .claude/jobs/j/state.json package
claude .claude/daemon.json package
claude .claude/plugins/installed_plugins.json package
claude .claude/plugins/cache/p/hooks/hooks.json package
claude .claude/cowork_plugins/p/hooks/hooks.json package
claude .claude/dev-mods/m.js package
claude .claude/hooks/h.sh hooks
claude .claude/statusline.sh statusline
claude .claude/keybindings.json claude-directory
claude .claude/shell-snapshots/snapshot.sh package
claude .claude/session-env/x/hook.sh package
claude .claude/local/claude package
claude .claude/plans/p.md package
claude .claude/mcp-discovery-cache/c.json package
claude .claude/projects/$slug/memory/MEMORY.md memory
claude .claude/projects/$slug/memory/topic.md memory
claude .claude/projects/other/memory/MEMORY.md memory
codex .codex/config.toml config-reference
codex .codex/p.config.toml config-reference
codex .codex/managed_config.toml package
codex .codex/requirements.toml package
codex .codex/tmp/arg0-linux/a/apply_patch package
codex .codex/environments.toml package
codex .codex/cloud-config-bundle-cache.json package
codex .codex/hooks.json hooks
codex .codex/AGENTS.md agents-md
codex .codex/AGENTS.override.md agents-md
codex .codex/rules/default.rules package
codex .codex/prompts/p.md custom-prompts
codex .codex/skills/s/SKILL.md skills
codex .codex/agents/a.toml subagents
codex .codex/plugins/p/plugin.json package
codex .codex/memories/MEMORY.md package
codex .codex/memories/memory_summary.md package
codex .codex/memories_1.sqlite package
codex .codex/goals_1.sqlite package
codex .codex/shell_snapshots/s.sh package
codex .codex/tmp/arg0/apply_patch package
codex .codex/packages/codex package
opencode .config/opencode/opencode.json config
opencode .config/opencode/opencode.jsonc package
opencode .config/opencode/config.json package
opencode .config/opencode/tui.json tui
opencode .config/opencode/AGENTS.md rules
opencode .config/opencode/plugin/p.ts package
opencode .config/opencode/plugins/p.ts plugins
opencode .config/opencode/tool/t.ts package
opencode .config/opencode/tools/t.ts custom-tools
opencode .config/opencode/agent/a.md package
opencode .config/opencode/agents/a.md agents
opencode .config/opencode/mode/m.md package
opencode .config/opencode/modes/m.md package
opencode .config/opencode/command/c.md package
opencode .config/opencode/commands/c.md commands
opencode .config/opencode/skill/s/SKILL.md package
opencode .config/opencode/skills/s/SKILL.md skills
opencode .config/opencode/themes/t.json themes
opencode .config/opencode/package.json plugins
opencode .config/opencode/node_modules/m/index.js plugins
opencode .local/share/opencode/bin/rg package
opencode .local/share/opencode/bin/gopls package
opencode .local/share/opencode/snapshot/s/config package
opencode .local/share/opencode/worktree/w/f package
opencode .local/share/opencode/plans/p.md package
opencode .local/share/opencode/mcp-auth.json package
opencode .local/state/opencode/kv.json package
opencode .local/state/opencode/model.json package
opencode .local/state/opencode/plugin-meta.json package
opencode .cache/opencode/node_modules/m/index.js package
opencode .cache/opencode/skills/s/SKILL.md package
gemini .gemini/settings.json configuration
gemini .gemini/GEMINI.md gemini-md
gemini .gemini/system.md system-prompt
gemini .gemini/.env configuration
gemini .gemini/commands/c.toml custom-commands
gemini .gemini/extensions/e/gemini-extension.json extensions
gemini .gemini/skills/s/SKILL.md package
gemini .gemini/agents/a.md package
gemini .gemini/acknowledgments/agents.json package
gemini .gemini/policies/p.toml package
gemini .gemini/policy_integrity.json package
gemini .gemini/hooks/h.sh hooks
gemini .gemini/trusted_hooks.json package
gemini .gemini/trustedFolders.json trusted-folders
gemini .gemini/keybindings.json package
gemini .gemini/gemini-credentials.json package
gemini .gemini/mcp-oauth-tokens.json package
gemini .gemini/a2a-oauth-tokens.json package
gemini .gemini/tmp/bin/rg package
gemini .gemini/tmp/shop/memory/MEMORY.md package
gemini .gemini/tmp/shop/plans/p.md package
gemini .gemini/tmp/other/memory/MEMORY.md package
gemini .gemini/history/shop/.git/config package
aider .aider.conf.yml aider_conf
aider .aider.model.settings.yml adv-model-settings
aider .aider.model.metadata.json adv-model-settings
aider .env dotenv
aider .aider/caches/model_prices_and_context_window.json adv-model-settings
X
table() {
	sed -n "s|^$1 \([^ ]*\) .*|\1|p" "$work/rows"
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
