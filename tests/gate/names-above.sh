#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A project is known by the names above it, from the home directory down: one in
# ~/.config/fish is what fish runs.  The home directory itself asks everything.
. "$HB_TESTS/lib/txn.sh"

# found DIR FILE: rules that ask about the file, new in a project at DIR.
found() {
	mkdir -p "$1"
	(cd "$1" && "$HB_BIN" create --state-dir "$state" s --cow "$1" >/dev/null &&
		"$HB_BIN" exec --state-dir "$state" @s -- sh -c "echo x >'$2'" &&
		"$HB_BIN" gate --state-dir "$state" @s) |
		sed -n 's/^ask: .*'"$2"': .* \[\([a-z-]*\)\]$/\1/p' | tr '\n' ','
	hb cleanup -y @s >/dev/null
}
mkdir -p "$project"
is 'a project in ~/.config/fish' "$(found "$HOME/.config/fish" config.fish)" shell,
is 'a project below ~/.config/fish is known by the names above it' "$(found "$HOME/.config/fish/functions" a.fish)" shell,
is 'units of systemd' "$(found "$HOME/.config/systemd/user" a.service)" start-up,
is 'an agent in the home directory' "$(found "$HOME/.claude" a.json)" agent,
is 'another agent' "$(found "$HOME/.codex/prompts" a.md)" agent,
is 'elsewhere the last names count' "$(found "$work/.config/fish" a.fish)" shell,
is 'a work tree of an agent is a project' "$(found "$HOME/.claude/worktrees/a" f)" ''
is 'with what asks in any' "$(found "$HOME/.claude/worktrees/a" .envrc)" environment,
is 'an ordinary project' "$(found "$HOME/src/p" f)" ''

printf 'rule = own\nseverity = ask\nreason = x\npath = a/b\n' >"$work/rules"
mkdir -p "$HOME/.config/holdback" "$HOME/src/a"
cp "$work/rules" "$HOME/.config/holdback/gate.rules"
is "a pattern of the user's own begins at the project" "$(found "$HOME/src/a" b)" ''
rm -r "$HOME/.config/holdback"

mkdir -p "$HOME/notes"
echo x >"$HOME/gone"
echo x >"$HOME/mode"
chmod 600 "$HOME/mode"
(cd "$HOME" && echo y | script -qec "'$HB_BIN' create --state-dir '$state' s --cow '$HOME'" /dev/null >/dev/null &&
	"$HB_BIN" exec --state-dir "$state" @s -- sh -c 'cd; echo x >a; echo x >notes/b
		echo x >notes/c; echo x >.bashrc
		rm gone; chmod 644 mode; mkdir empty; ln -s a link; mkfifo fifo' &&
	"$HB_BIN" gate --state-dir "$state" @s) >"$work/out"
is 'in the home directory each name at the top asks, once' \
	"$(sed -n 's/^ask: \([^ ]*\): .* \[home\]$/\1/p' "$work/out" | sort | tr '\n' ',')" \
	'.bashrc,a,empty,fifo,gone,link,mode,notes,'
is 'a name that asks anywhere asks by itself in the home directory' \
	"$(sed -n 's/^ask: \(.*\)$/\1/p' "$work/out" | grep -v 'home\]')" \
	'.bashrc: bash runs it at log in, or when it starts [shell]
fifo: a fifo [special]'
hb cleanup -y @s >/dev/null
rm -rf "${HOME:?}/.config" "$HOME/.claude" "$HOME/.codex" "$HOME/src" "$HOME/notes" \
	"$HOME/gone" "$HOME/mode"
finish
