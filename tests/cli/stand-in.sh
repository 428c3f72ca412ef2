#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Always on: a link to holdback that is named like a program, and the variable
# that switches it off.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'

mkdir -p bin real/bin real/lib p
cat >real/bin/agent <<'END'
#!/bin/sh
echo "${HOLDBACK:-none} ${AGENT_SANDBOX:-unset} $# $*"
echo new >file
exit 3
END
chmod +x real/bin/agent
ln -s "$HB_BIN" bin/agent
path=$work/bin:$work/real/bin:$PATH
cd p || bail "no directory"
echo old >file

# agent [NAME=VALUE...]: the link, with two arguments.
agent() {
	env PATH="$path" "$@" agent --json 'two words'
}

agent HOME="$HOME" >"$work/said" 2>/dev/null
is 'X4 a link runs what it is named after, with its status' $? 3
is 'in a box, with its own words' "$(cat "$work/said")" '1 unset 2 --json two words'
is 'a link holds the writes of its program back' "$(cat file)" old
is 'in a session of its name' \
	"$("$HB_BIN" ls --json | grep -o '"name":"[^"]*"')" '"name":"agent-1"'
is 'a call by its path is the same' \
	"$(PATH=$path ../bin/agent 2>/dev/null)" '1 unset 0 '
is 'run does not take the link for the program' \
	"$(PATH=$path "$HB_BIN" --ephemeral agent 2>/dev/null)" '1 unset 0 '

for value in false 0 no off; do
	says_off=$(agent AGENT_SANDBOX=$value 2>"$work/.err")
	is "Q4 $value: its status" $? 3
	is "Q4 $value: nothing is in between" "$says_off" "none $value 2 --json two words"
	like "Q4 $value: which is said" "$(cat "$work/.err")" 'holdback: weakened: AGENT_SANDBOX is off*'
	is "Q4 $value: writes are real" "$(cat file)" new
	echo old >file
done
prints 'also for holdback itself' "holdback: weakened: AGENT_SANDBOX is off: \
nothing is held back, nothing is hidden
$work/p" env AGENT_SANDBOX=off "$HB_BIN" run -q -- pwd
like 'inside, the sandbox around it is said to hold' \
	"$("$HB_BIN" run -q --ephemeral --ro "${HB_BIN%/bin/*}" -- \
		env AGENT_SANDBOX=off "$HB_BIN" run -q -- echo yes 2>&1)" \
	"*weakened: AGENT_SANDBOX is off: no sandbox of its own; the one around it holds back and hides as before${nl}yes"
prints 'a variable alone does not say that there is one' "holdback: weakened: AGENT_SANDBOX is off: \
nothing is held back, nothing is hidden
yes" env HOLDBACK=1 AGENT_SANDBOX=off "$HB_BIN" run -q -- echo yes
for value in '' 1 true yes on; do
	is "'$value' is on" "$(agent AGENT_SANDBOX="$value" 2>/dev/null)" \
		'1 unset 2 --json two words'
done
is 'the real file is as it was' "$(cat file)" old

says 'Q4 another value runs nothing' 125 \
	'holdback: [[]2] AGENT_SANDBOX says neither true nor false*fix: unset*' \
	env PATH="$path" AGENT_SANDBOX=flase agent
says 'an option that could not be in force runs nothing' 125 \
	'holdback: [[]2] AGENT_SANDBOX is off, and takes a command alone*fix: *' \
	env AGENT_SANDBOX=off "$HB_BIN" --net none -- true
says 'a command that is not there' 127 '*no-such*' \
	env AGENT_SANDBOX=off "$HB_BIN" run no-such
is 'nothing ran' "$(cat file)" old

# What is named like no other program is holdback.
ln -s "$HB_BIN" ../bin/no-such-program
is 'a link that stands in front of nothing is holdback' \
	"$(PATH=$path no-such-program --version)" "$("$HB_BIN" --version)"
rm -r "$HOME/.local"
done_testing
