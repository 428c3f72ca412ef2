#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# modes: root
#
# A directory of an agent's state, on the host or in the store, that belongs to
# another user.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

home=$work/home
mkdir -p home/.claude home/.local/bin home/.local/share/claude p
HOME=$home
PATH=$home/.local/bin:$PATH
export HOME PATH
printf '#!/bin/sh\neval "$1"\n' >home/.local/share/claude/claude
chmod +x home/.local/share/claude/claude
ln -s ../share/claude/claude home/.local/bin/claude
cd p || bail 'no directory'
file=$home/.claude/.credentials.json
agent() {
	"$HB_BIN" claude "$1" 2>"$work/.stderr" </dev/null
}
old='{"claudeAiOauth":{"accessToken":"old","expiresAt":1700000000000}}'
new='{"claudeAiOauth":{"accessToken":"new","expiresAt":4100000000000}}'
printf %s "$old" >"$file"

agent 'echo said >~/.claude/projects/*/talk.jsonl'
chown -R 1:1 "$home/.claude"
chmod 755 "$home/.claude"
agent 'echo goes on'
like 'a state directory of another user is said at the start' "$(cat "$work/.stderr")" \
	"*'$home/.claude' belongs to user 1: *run holdback as that user, or chown it*"
is 'a run goes on where its state is of another user' "$(agent 'echo goes on')" 'goes on'
# One that all may write to.
chmod 777 "$home/.claude" "$home/.claude/projects"
before=$(ls -lRn --time-style=full-iso "$home/.claude")

agent "echo yes >~/.claude/trust; printf '%s' '$new' >~/.claude/t; mv ~/.claude/t ~/.claude/.credentials.json
	mkdir -p ~/.claude/projects/x; echo said >~/.claude/projects/x/talk.jsonl"
like 'no login is published to a directory of another user' "$(cat "$work/.stderr")" \
	"*lies in a directory of another user: the host's stays*"
is 'nothing is written to a state directory of another user' \
	"$(ls -lRn --time-style=full-iso "$home/.claude")" "$before"
is 'the state is there in the next run all the same' \
	"$(agent 'cat ~/.claude/trust ~/.claude/projects/x/talk.jsonl ~/.claude/.credentials.json')" "yes
said
$new"
says 'a login is not published there by its command either' 10 \
	'*cannot publish*' "$HB_BIN" state claude --publish
chown -R 0:0 "$home/.claude"
like 'in a directory of its own the login is published' \
	"$("$HB_BIN" state claude --publish)" 'published the login of claude*'
"$HB_BIN" state --forget -y >/dev/null

# The store's own.
agent 'echo yes >~/.claude/trust'
store=$home/.local/state/holdback
for place in agents "agents/$(ls "$store/agents")" "agents/$(ls "$store/agents")/claude"; do
	chown 1:1 "$store/$place"
	agent 'cat ~/.claude/trust'
	like "a directory of the store that is another user's is refused: ${place##*/}" \
		"$?:$(cat "$work/.stderr")" \
		"*'${place##*/}' in the store is no directory of yours alone*fix: remove '${place##*/}'*"
	chown 0:0 "$store/$place"
	is "nothing of it is lost: ${place##*/}" "$(agent 'cat ~/.claude/trust')" yes
done
"$HB_BIN" state --forget -y >/dev/null
done_testing
