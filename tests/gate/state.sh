#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What an agent keeps in the home directory is known by the names above it,
# which no path of a change in there has.
. "$HB_TESTS/lib/txn.sh"

mkdir -p "$HOME/.claude" "$HOME/.config/fish" "$HOME/.mine"
echo '{}' >"$HOME/.claude/settings.json"
echo data >"$HOME/.mine/settings.json"

# agent SCRIPT: in the session `s`, which keeps its state.
agent() {
	(cd "$project" && exec "$HB_BIN" run -q --session s --state "$HOME/.claude" \
		--state "$HOME/.config/fish" --state "$HOME/.mine" -- sh -c "$1") >/dev/null 2>&1
}
hold() {
	command=$1
	shift
	(cd "$project" && exec "$HB_BIN" "$command" "$@" @s)
}

# took OPTION…: commits the state.
took() {
	hold commit --state "$@"
}

# found: severity, path below the home directory, and rule.
found() {
	took -y 2>&1 | sed -n "s,^\([a-z]*\): $HOME/\([^ ]*\): .* \[\([a-z-]*\)\]$,\1 \2 \3,p" |
		sort | tr '\n' ','
}

agent 'echo x >f; echo "{\"hooks\":{}}" >~/.claude/settings.json; echo y >~/.mine/settings.json'
is 'settings of an agent ask, and others do not' "$(found)" 'ask .claude/settings.json agent,'
check_exit 'commit -y does not answer' 4 took -y
check 'the project is committed without a question' hold commit -y
is 'the host has what it had' "$(cat "$HOME/.claude/settings.json" "$HOME/.mine/settings.json")" \
	'{}
data'
agent 'mkdir ~/.claude/hooks; echo x >~/.claude/hooks/run; echo x >~/.config/fish/config.fish'
is 'a new file in the state of an agent asks, at any depth' "$(found)" \
	'ask .claude/hooks/run agent,ask .claude/settings.json agent,ask .config/fish/config.fish shell,'
is 'the project is committed without the state of the agent' "$(cat "$project/f")" x
check_exit 'one rule is not another' 4 took -y --allow agent
check 'named, they pass' took -y --allow agent --allow 'shell:config.fish'
like 'committed state is carried no more' "$(cd "$project" && "$HB_BIN" state)" '*no state of an agent is carried here*'
is 'allowed files of the state are committed' "$(cat "$HOME/.claude/settings.json" "$HOME/.mine/settings.json" \
	"$HOME/.claude/hooks/run" "$HOME/.config/fish/config.fish")" '{"hooks":{}}
y
x
x'
hold cleanup -y >/dev/null
rm -rf "${HOME:?}/.claude" "$HOME/.config" "$HOME/.mine" "$HOME/.local"
finish
