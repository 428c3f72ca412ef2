#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The sandbox that an agent makes for its own commands is off inside, for this
# run, and a stricter one than ours is refused.
# shellcheck disable=SC2016,SC2154 # expanded by the agents; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'
# Agents that print their words, in a home of their own.
HOME=$work/home
PATH=$HOME/.local/bin:$PATH
export HOME PATH
mkdir -p home/.local/bin home/.claude p/.claude
for name in claude codex gemini; do
	printf '#!/bin/sh\nfor word; do echo "$word"; done\necho "[$SANDBOX]"\n' >"home/.local/bin/$name"
	chmod +x "home/.local/bin/$name"
done
cd p || bail 'no directory'

# words NAME WANT AGENT WORD...: the words that the agent got.
words() {
	words_name=$1
	words_want=$2
	shift 2
	is "$words_name" "$("$HB_BIN" run --ephemeral -q -- "$@" 2>&1)" "$words_want"
}
full="-c${nl}sandbox_mode=\"danger-full-access\"$nl"
words 'codex without an option has its sandbox off' "${full}exec${nl}hi${nl}[]" codex exec hi
words 'a mode of codex is replaced behind its option' \
	"${full}exec${nl}-s${nl}danger-full-access${nl}hi${nl}[]" codex exec -s workspace-write hi
words 'a mode of codex is replaced in the word of its option' \
	"${full}--sandbox=danger-full-access${nl}[]" codex --sandbox=workspace-write
words 'a mode of codex is replaced in its configuration' \
	"${full}--config${nl}sandbox_mode=\"danger-full-access\"${nl}-c${nl}model=o3${nl}[]" \
	codex --config 'sandbox_mode="workspace-write"' -c model=o3
words 'codex that has a model approve keeps that, and loses its sandbox' \
	"${full}exec${nl}--config=approvals_reviewer=\"auto_review\"${nl}hi${nl}[]" codex exec --approve-for-me hi
words 'the older word of codex for its sandbox is replaced' \
	"${full}--sandbox=danger-full-access${nl}hi${nl}[]" codex --full-auto hi
words 'a prompt of codex behind -- stays as it is' "${full}exec${nl}--${nl}-s${nl}read-only${nl}[]" \
	codex exec -- -s read-only
words 'codex that is no agent gets its own words' "login${nl}status${nl}[]" codex login status
words 'codex that is asked for its sandbox gets its own words' "sandbox${nl}ls${nl}[]" codex sandbox ls

# refused WORD...: codex with these words does not start.
refused() {
	says "codex with $* is refused, with the way out" 125 \
		"*codex cannot keep '*read-only*': its own sandbox does not work in this one*--allow-nested*" \
		"$HB_BIN" run --ephemeral -- codex exec "$@" hi
}
refused -s read-only
refused --sandbox=read-only
refused -sread-only
refused -c 'sandbox_mode="read-only"'
# A mode of the configuration is refused as well, unless words say another.
mkdir -p "$HOME/.codex"
printf 'model = "o3"\nsandbox_mode = "read-only"\n[x]\ny = 1\n' >"$HOME/.codex/config.toml"
refused --json
words 'a mode on the command line wins over the file' "${full}exec${nl}-s${nl}danger-full-access${nl}hi${nl}[]" \
	codex exec -s workspace-write hi
words 'a word that names a mode wins over the file' \
	"${full}exec${nl}--config=approvals_reviewer=\"auto_review\"${nl}hi${nl}[]" codex exec --approve-for-me hi
echo 'sandbox_mode = "workspace-write"' >"$HOME/.codex/soft.config.toml"
words 'the file of a profile wins over the other' "${full}exec${nl}-p${nl}soft${nl}hi${nl}[]" codex exec -p soft hi
printf '[x]\nsandbox_mode = "read-only"\n' >"$HOME/.codex/config.toml"
words 'a key of another table is no mode' "${full}exec${nl}hi${nl}[]" codex exec hi
echo "sandbox_mode = 'read-only'" >"$HOME/.codex/hard.config.toml"
refused --profile=hard
refused -p hard
rm -r "$HOME/.codex"
mkdir -p elsewhere && echo 'sandbox_mode="read-only"' >elsewhere/config.toml
says 'the file lies where CODEX_HOME says' 125 '*codex cannot keep*read-only*' \
	env CODEX_HOME="$PWD/elsewhere" "$HB_BIN" run --ephemeral -- codex exec hi
rm -r elsewhere
is 'a refused codex leaves no session' "$("$HB_BIN" codex exec -s read-only hi 2>/dev/null; "$HB_BIN" ls)" ''
if "$HB_BIN" run --ephemeral -q --allow-nested -- true 2>/dev/null; then
	like 'codex that may make namespaces gets its own words' \
		"$("$HB_BIN" run --ephemeral -q --allow-nested -- codex exec -s read-only hi 2>&1)" \
		"*exec${nl}-s${nl}read-only${nl}hi${nl}*"
else
	skip 'codex that may make namespaces gets its own words' 'no namespaces here'
fi
like 'a line at the start says that the sandbox of codex is off' \
	"$(on_terminal 'run --ephemeral -- codex exec hi')" \
	"*codex's own sandbox is off: holdback is the sandbox*"

off="--settings${nl}{\"sandbox\":{\"enabled\":false}}$nl"
words 'claude without a sandbox gets its own words' "-p${nl}hi${nl}[]" claude -p hi
for file in "$HOME/.claude/settings.json" .claude/settings.json .claude/settings.local.json; do
	echo '{"a": "\"sandbox\"", "sandbox": { "network": {"enabled": false}, "enabled" : true } }' >"$file"
	words "the sandbox of claude in ${file##*/} is off" "$off-p${nl}hi${nl}[]" claude -p hi
	rm "$file"
done
echo '{"sandbox":{"network":{"enabled":true},"enabled":false},"enabled":true}' >.claude/settings.json
words 'claude whose sandbox is off gets its own words' "-p${nl}hi${nl}[]" claude -p hi
echo '{"sandbox":{"enabled":true}}' >.claude/settings.json
words 'settings on the command line of claude stay' "--settings${nl}x.json${nl}[]" claude --settings x.json
for text in '{"sandbox":{"enabled":' '{"sandbox":' '"sandbox"' '{"sandbox":{"enabled":tru' '"\"' '{"sandbox":"'; do
	printf '%s' "$text" >.claude/settings.json
	words "claude starts with the settings $text" "hi${nl}[]" claude hi
done
rm .claude/settings.json
mkfifo .claude/settings.json
words 'claude starts with a pipe for settings' "hi${nl}[]" claude hi
rm .claude/settings.json

# It is for this run: the agent rewrites its settings, as after a question.
for name in claude codex gemini; do
	printf '#!/bin/sh\n%s\n' 'for f in ~/.claude/settings.json ~/.codex/config.toml ~/.gemini/settings.json
do [ ! -e "$f" ] || { cat "$f"; echo " " >>"$f"; }; done; echo "$*" >>words' >"$HOME/.local/bin/$name"
done
# kept AGENT FILE TEXT: two runs with a session, and the file in the second.
kept() {
	mkdir -p "$HOME/${2%/*}"
	echo "$3" >"$HOME/$2"
	"$HB_BIN" -q "$1" hi >/dev/null 2>&1
	is "$1 has its own settings in the next run" "$("$HB_BIN" -q -c "$1" hi 2>/dev/null | tr -d '\n ')" \
		"$(echo "$3" | tr -d '\n ')"
	is "the setting that switches the sandbox of $1 off is not carried" \
		"$("$HB_BIN" state "$1" "$HOME/$2" | tr -d '\n ')" "$(echo "$3" | tr -d '\n ')"
	is "the only change of the session is the work of $1" "$("$HB_BIN" diff --name-status)" 'A	words'
	is "the setting of the host is as it was for $1" "$(cat "$HOME/$2")" "$3"
	is "$1 had its sandbox off both times" "$("$HB_BIN" exec -- cat words | grep -c "$4")" "$5"
	"$HB_BIN" cleanup -y --all >/dev/null
	"$HB_BIN" state --forget -y >/dev/null
	rm -r "${HOME:?}/${2%/*}"
}
kept claude .claude/settings.json '{"sandbox":{"enabled":true}}' '"enabled":false' 2
kept codex .codex/config.toml 'sandbox_mode = "workspace-write"' danger-full-access 2
kept gemini .gemini/settings.json '{"tools":{"sandbox":true}}' sandbox 0
for name in claude codex gemini; do
	printf '#!/bin/sh\nfor word; do echo "$word"; done\necho "[$SANDBOX]"\n' >"$HOME/.local/bin/$name"
done

# A prompt may stand behind the option of gemini, which takes no other value.
words 'gemini starts itself again, so SANDBOX is not set' "-p${nl}hi${nl}[]" gemini -p hi
is 'gemini is told to make no sandbox, whatever its caller says' \
	"$(GEMINI_SANDBOX=docker "$HB_BIN" run --ephemeral -q --profile gemini -- \
		sh -c 'echo "$GEMINI_SANDBOX"' 2>&1)" false
no="--sandbox=false$nl"
for option in -s --sandbox -s=true --sandbox=true; do
	words "the option $option of gemini is off" "${no}true story${nl}[]" gemini "$option" 'true story'
done
words 'a value that stands alone is off as well' "--sandbox${nl}false${nl}hi${nl}[]" gemini --sandbox true hi
words 'a prompt of gemini behind -- stays as it is' "$no--${nl}-s${nl}[]" gemini -s -- -s
words 'an option of the same name of another command stays' "mcp${nl}add${nl}-s${nl}user${nl}[]" gemini mcp add -s user
off="*gemini's own sandbox is off: holdback is the sandbox*"
like 'a line at the start says that the sandbox of gemini is off' \
	"$(on_terminal 'run --ephemeral -- gemini -s hi')" "$off"
like 'a line says so if the variable of the caller asks for the sandbox' \
	"$(GEMINI_SANDBOX=podman on_terminal 'run --ephemeral -- gemini hi')" "$off"
mkdir -p "$HOME/.gemini"
# said NAME VALUE: whether the line is there with this setting.
said() {
	printf '{"tools": {"sandbox": %s}}' "$2" >"$HOME/.gemini/settings.json"
	case $(on_terminal 'run --ephemeral -- gemini hi') in
	*"gemini's own sandbox is off"*) said_it=yes ;;
	*) said_it=no ;;
	esac
	is "gemini with the setting $2 is told so: $1" "$said_it" "$1"
}
said yes true
said yes '"docker"'
said yes '{"enabled": true}'
said no false
said no '"false"'
said no '{"enabled": false}'
rm -r "$HOME/.gemini"
done_testing
