#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: bash zsh fish
#
# A command can tell where it is: by variables, and a person by the prompt of
# an interactive shell.  The user's own files for shells stay outside.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'
HOME=$work/home
XDG_STATE_HOME=$work/state
export HOME XDG_STATE_HOME
mkdir -p home/.config/fish p/sub
cd p/sub || bail 'no directory'
git init -q .. || bail 'no git'
project=$work/p

# told OPTION...: what a command is told of its place.
told() {
	"$HB_BIN" "$@" sh -c 'echo "$HOLDBACK ${HOLDBACK_SESSION-none} ${HOLDBACK_PROJECT-none}"' 2>/dev/null
}
is 'a run knows its session and its project' "$(told run -q --)" "1 sh-1 $project"
is 'a session that was named' "$(told run -q -s mine --)" "1 mine $project"
is 'without a session there is no name' "$(told run -q --ephemeral --)" "1 none $project"
is 'a direct run knows its project' "$(told run -q --direct --)" "1 none $project"
is 'the project is told as it is seen' "$(told run -q --ephemeral --at /work --)" '1 none /work'
is 'exec in a session' "$(told exec @mine --)" "1 mine $project"
is 'what the caller says of itself does not pass' \
	"$(HOLDBACK=1 HOLDBACK_PROJECT=/x HOLDBACK_SESSION=other told run -q --ephemeral --)" "1 none $project"
"$HB_BIN" keep @mine &
keep=$!
is_live() {
	"$HB_BIN" ls 2>/dev/null | grep -q live
}
wait_until is_live
is 'a command that joins' "$(told exec @mine --)" "1 mine $project"
kill "$keep"
wait "$keep"

# Inside, they are no settings: see above.
is 'outside the variable is a setting' "$(HOLDBACK_SESSION='set' told run -q --)" "1 set $project"
check_exit 'outside there is no setting of the other name' 125 env HOLDBACK_PROJECT=x "$HB_BIN" run true
is 'the terminal keeps its name' "$(TERM=xterm-kitty TERMINFO=/usr/share/terminfo COLORTERM=truecolor TERM_PROGRAM=kitty \
	"$HB_BIN" run -q --ephemeral -- sh -c 'echo "$TERM $TERMINFO $COLORTERM $TERM_PROGRAM"')" \
	'xterm-kitty /usr/share/terminfo truecolor kitty'

echo 'TOKEN=secret' | tee "$HOME/.bashrc" "$HOME/.zshrc" >"$HOME/.config/fish/config.fish"

# marked NAME WANT OPTION... -- SHELL: the prompt that the shell would show.
marked() {
	marked_name=$1
	marked_want=$2
	shift 2
	like "$marked_name" "$("$HB_BIN" run -q "$@" 2>/dev/null)" "$marked_want"
}
marked 'bash is marked' '(holdback bash-1) ?*' -- bash -ic 'echo "$PS1"'
marked 'zsh is marked' '(holdback zsh-1) ?*' -- zsh -ic 'echo "$PROMPT"'
marked 'fish is marked' '(holdback fish-1) ?*' -- fish -ic 'fish_prompt'
marked 'without a session the mark has no name' '(holdback) ?*' --ephemeral -- bash -ic 'echo "$PS1"'
marked 'also for fish' '(holdback) ?*' --ephemeral -- fish -ic 'fish_prompt'
# As zsh would draw it, also with options that change prompts.
for words in '-i' '-il' '-o PROMPT_SUBST -i'; do
	# shellcheck disable=SC2086 # options of zsh
	marked "zsh $words draws the mark" '(holdback zsh-1) ?*' -- zsh $words -c 'print -P "$PROMPT"'
done
# An agent has a home directory on disk, in its session: see holdback-run(1).
mkdir -p "$HOME/.local/bin" "$HOME/.claude"
cat >"$HOME/.local/bin/claude" <<\EOF
#!/bin/sh
echo >change
bash -ic 'echo "$PS1"' 2>/dev/null
EOF
chmod +x "$HOME/.local/bin/claude"
PATH=$HOME/.local/bin:$PATH
marked 'an agent has the mark' '(holdback claude-1) ?*' -- claude
marked 'a session of an agent has it again' '(holdback claude-1) ?*' -s claude-1 -- bash -ic 'echo "$PS1"'
marked 'what a command put there stays' 'mine' -s claude-1 -- \
	sh -c 'rm ~/.zshrc; ln -s "$PWD/link" ~/.zshrc; echo mine >~/.bashrc; cat ~/.bashrc'
is 'the next command has it as well, and no link is followed' "$("$HB_BIN" run -q -s claude-1 -- \
	sh -c 'cat ~/.bashrc; ls -l link 2>/dev/null || echo none')" "mine${nl}none"
"$HB_BIN" cleanup -y @claude-1 >/dev/null 2>&1
is 'a script is not marked' "$("$HB_BIN" run -q --ephemeral -- bash -c 'echo "${PS1-none}"')" none
is 'the prompt of fish has the status of the last command' "$("$HB_BIN" run -q --ephemeral -- fish -ic \
	'function __holdback_prompt; echo "<$status>"; end; sh -c "exit 3"; fish_prompt')" '(holdback) <3>'
is 'nothing of the own files is there' "$("$HB_BIN" run -q --ephemeral -- sh -c 'grep -r secret ~ || echo none')" none
is 'an own file is shown on request' \
	"$("$HB_BIN" run -q --ephemeral --ro "$HOME/.bashrc" -- bash -ic 'echo "$TOKEN"' 2>/dev/null)" secret
is 'an own file is shown by the option that shows' \
	"$("$HB_BIN" run -q --ephemeral --show "$HOME/.bashrc" -- bash -ic 'echo "$TOKEN"' 2>/dev/null)" secret
is 'an own directory is not written to' \
	"$("$HB_BIN" run -q --ephemeral --rw "$HOME/.config" -- sh -c 'cat ~/.config/fish/config.fish' 2>/dev/null
	cat "$HOME/.config/fish/config.fish")" "TOKEN=secret${nl}TOKEN=secret"
is 'an own home directory is not written to' "$("$HB_BIN" run -q --ephemeral --rw "$HOME" -- sh -c 'cat ~/.zshrc' 2>/dev/null
	cat "$HOME/.zshrc")" "TOKEN=secret${nl}TOKEN=secret"
"$HB_BIN" cleanup -y @mine >/dev/null 2>&1
done_testing
