#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# holdback enable and disable: links before the real programs in PATH.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

links=$HOME/.local/share/holdback/bin
mkdir -p real/bin real/lib p
cat >real/bin/agent <<'END'
#!/bin/sh
echo "inside: ${HOLDBACK:-no}, $(command -v agent)"
echo new >file
END
chmod +x real/bin/agent
cd p || bail "no directory"
echo old >file
plain=$work/real/bin:$PATH

prints 'without names and links there is nothing to list' 'no program is enabled' \
	"$HB_BIN" enable
check_fails 'the list makes no directory' test -e "$links"
prints 'enable says which line PATH needs' "\
agent: is not reached: PATH lacks the directory of the link: $work/real/bin/agent
Add this line to the start-up file of your shell, and type it once:
  export PATH='$links':\"\$PATH\"" env PATH="$plain" "$HB_BIN" enable agent
is 'the link leads to this installation' "$(readlink "$links/agent")" "$HB_BIN"
is 'the program itself still starts without a sandbox' "$(PATH=$plain agent)" \
	"inside: no, $work/real/bin/agent"
echo old >file

# Inside, a program that calls itself gets the program, not a second sandbox.
line=$("$HB_BIN" enable --shell bash)
is 'the line for bash makes the program start in a sandbox' \
	"$(PATH=$plain; eval "$line"; agent 2>/dev/null)" "inside: 1, $work/real/bin/agent"
is 'the enabled program changed no real file' "$(cat file)" old
is 'the line for zsh is the one for bash' "$("$HB_BIN" enable --shell zsh)" "$line"
is 'fish understands its line' \
	"$(env HOME="$work" PATH="$plain" fish -N -c \
		"eval (env HOME='$HOME' '$HB_BIN' enable --shell fish); echo \$PATH[1]")" \
	"$links"
good=$links:$plain
unlike 'a start says nothing of the directory of links' \
	"$(PATH=$good "$HB_BIN" --ephemeral true 2>&1)" '*share/holdback*'
prints 'a link that PATH reaches starts in a sandbox' \
	"agent: starts in a sandbox: $work/real/bin/agent" env PATH="$good" "$HB_BIN" enable
is 'AGENT_SANDBOX=off goes round an enabled program' \
	"$(AGENT_SANDBOX=off PATH=$good agent 2>/dev/null)" "inside: no, $links/agent"
echo old >file

prints 'a second enable changes nothing' "agent: starts in a sandbox: $work/real/bin/agent" \
	env PATH="$good" "$HB_BIN" enable agent
prints 'enable says that PATH has no such program' 'absent: PATH has no program of this name' \
	env PATH="$good" "$HB_BIN" enable absent
prints 'enable says that the program comes first in PATH' \
	"agent: is not reached: PATH finds the program before the link: $work/real/bin/agent" \
	env PATH="$work/real/bin:$links:$PATH" "$HB_BIN" enable agent
is 'the document has the links, their reach and their directory' \
	"$(PATH=$good "$HB_BIN" enable --json)" "{\"version\":1,\"command\":\"enable\",\
\"directory\":\"$links\",\"in_path\":true,\"enabled\":[\
{\"name\":\"absent\",\"reach\":\"missing\"},\
{\"name\":\"agent\",\"reach\":\"on\",\"program\":\"$work/real/bin/agent\"}]}"

like 'doctor tells nothing of links that are reached' "$(PATH=$good "$HB_BIN" doctor)" \
	'*ok    enabled            programs that always start in a sandbox*'
like 'doctor notices a program before its link' \
	"$(PATH="$work/real/bin:$links:$PATH" "$HB_BIN" doctor)" \
	"*warn  enabled *PATH finds '$work/real/bin/agent' before the link 'agent'*fix: eval*"
like 'doctor notices that PATH lacks the links' "$(PATH=$plain "$HB_BIN" doctor)" \
	"*warn  enabled *PATH lacks the directory of the link 'agent'*"

# Another installation, which is gone.
ln -sfn /nonexistent/bin/holdback "$links/agent"
like 'a link to an installation that is gone is said' \
	"$(PATH=$good "$HB_BIN" enable)" '*agent: leads to a holdback that is gone*'
PATH=$good "$HB_BIN" enable agent >/dev/null
is 'enable mends such a link' "$(readlink "$links/agent")" "$HB_BIN"

for name in a/b ../x '' '-x' .hidden 'two words' 'a:b' holdback "$(printf 'a\tb')"; do
	says "enable refuses the name '$name'" 2 "*cannot be the name of a link*fix: *" \
		"$HB_BIN" enable -- "$name"
done
is 'refused names made no link' "$(ls -A "$links")" "absent
agent"
echo mine >"$links/tool"
says 'a file of the user in the place of a link stays' 10 \
	"*'tool' is there and no link of holdback: it stays as it is*fix: *" \
	"$HB_BIN" enable tool
says 'disable leaves a file of the user' 10 "*'tool' is no link of holdback*" \
	"$HB_BIN" disable tool
is 'the file of the user has its content' "$(cat "$links/tool")" mine
rm "$links/tool"
ln -s /usr/bin/env "$links/tool"
says 'a link of the user to another program stays' 10 "*no link of holdback*" \
	"$HB_BIN" enable tool
rm "$links/tool"

prints 'disable removes the link' 'agent: the link is removed' "$HB_BIN" disable agent
check_fails 'the link is gone' test -L "$links/agent"
prints 'disable of a name without a link says so' 'agent: was not enabled' \
	"$HB_BIN" disable agent
is 'the document of disable has the links that went' \
	"$("$HB_BIN" disable --json absent agent)" \
	'{"version":1,"command":"disable","disabled":["absent"]}'

chmod 0777 "$links"
says 'links in a directory that others can write are refused' 10 \
	"*others have rights on*" "$HB_BIN" enable agent
chmod 0700 "$links"
XDG_DATA_HOME=$work/data "$HB_BIN" enable agent >/dev/null
is 'XDG_DATA_HOME says where links lie' "$(readlink "$work/data/holdback/bin/agent")" "$HB_BIN"
says 'without a home there is no place for links' 3 "*neither HOME nor XDG_DATA_HOME*fix: *" \
	env -u HOME -u XDG_DATA_HOME "$HB_BIN" enable agent
rm -r "$HOME/.local"
done_testing
