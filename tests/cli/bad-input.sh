#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What is wrong with a call is said in a line, with a fix where there is one,
# and with the exit status that the manual promises.  Nothing runs.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'
try_run="${nl}fix: try 'holdback run --help'"

like 'no command at all prints the help by task' "$("$HB_BIN" 2>&1)" \
	'usage: holdback *Start a command:*Review its changes:*Take them:*Go back:*Look at the rules:*For experts:*'
says 'run without a command' 125 \
	"holdback: \[2\] there is no command to run${nl}fix: holdback run -- COMMAND" \
	"$HB_BIN" run
says 'an unknown option' 125 \
	"holdback: \[2\] unknown option '--no-such-thing'$try_run" \
	run --no-such-thing true
says 'a near miss of an option' 125 \
	"holdback: \[2\] unknown option '--epemeral'${nl}fix: did you mean '--ephemeral'?" \
	"$HB_BIN" run --epemeral true
says 'a missing argument' 125 \
	"holdback: \[2\] option '--ro' needs an argument$try_run" run --ro
says 'an argument too many' 125 \
	"holdback: \[2\] option '--quiet' takes no argument$try_run" \
	run --quiet=1 true
says 'a bad number' 125 \
	"holdback: \[2\] option '--size': '12X' is not a number${nl}fix: *64M" \
	run --size 12X true
says 'a bad choice' 125 \
	"holdback: \[2\] option '--net': 'hots' is not one of its values${nl}fix: did you mean 'host'?" \
	run --net hots true
says 'a variable without a name' 125 \
	"holdback: \[2\] option '--env': '=x' has no name" run --env =x true
says 'a directory that is not there' 125 \
	"holdback: \[2\] option '--ro': cannot find 'none': No such file*" \
	run --ro none true
says 'the root directory as a tree' 125 \
	"holdback: \[2\] option '--rw': the root directory*" run --rw / true
says 'a working directory that the view has not' 125 \
	"holdback: \[2\] cannot enter '/no/where'${nl}fix: --chdir*" \
	run --chdir /no/where true

set --
while [ $# -lt 514 ]; do
	set -- "$@" --ro .
done
says 'too many settings' 125 \
	"holdback: \[2\] option '--ro': more than 256 settings$try_run" \
	run "$@" true

# The command.
says 'a command that does not exist' 127 \
	"holdback: there is no program 'no-such-program' in PATH" \
	run no-such-program
says 'a path that does not exist' 127 "holdback: there is no './none'" \
	run ./none
says 'an empty command' 127 "holdback: there is no program '\"\"' in PATH" \
	run ''
echo text >plain
says 'a file that is not executable' 126 \
	"holdback: './plain' is not an executable file" run ./plain
says 'a directory' 126 "holdback: '/usr' is not an executable file" run /usr
mkdir folder
PATH=$work:$PATH says 'a directory in PATH is not it' 126 \
	"holdback: 'folder' is not an executable file" run folder
printf '#!/no/such/interpreter\n' >script
chmod +x script
says 'a script without its interpreter' 127 \
	"holdback: the interpreter of './script' is not in the view${nl}fix: --ro DIR*" \
	run ./script
printf '\177ELF but not really' >broken
chmod +x broken
like 'a broken executable' "$(run ./broken 2>&1; echo "$?")" '*12[67]'
# Another project: of any other directory of PATH the programs are shown.
mkdir -p "$HOME/other/.git" "$HOME/other/bin" "$HOME/bin"
cp /usr/bin/true "$HOME/other/bin/tool"
PATH=$HOME/other/bin:$PATH says 'a command that is not in the view' 127 \
	"holdback: 'tool' is not in the view: it lies at '$HOME/other/bin/tool'${nl}fix: --ro $HOME/other/bin" \
	run tool
PATH=$HOME/other/bin:$PATH check 'a command whose directory the fix shows runs' \
	run --ro "$HOME/other/bin" tool
rm -r "${HOME:?}/other"
ln -s /usr/bin/basename "$HOME/bin/link"
PATH=$HOME/bin:$PATH prints 'a link there to what is in the view' x \
	run link /y/x
rm -r "${HOME:?}/bin"
says 'bytes for a terminal are quoted' 127 \
	'holdback: there is no program *\\033\[2J* in PATH' \
	run "$(printf '\033[2Jx')"

# Without a home there is nowhere to keep sessions, and none is made.
says 'no HOME' 125 \
	"holdback: \[3] neither HOME nor XDG_STATE_HOME says where sessions live${nl}fix: set HOME or XDG_STATE_HOME" \
	env -u HOME -u XDG_STATE_HOME "$HB_BIN" -q true
says 'a HOME that does not exist' 125 \
	"holdback: \[3] the home directory '$work/none' does not exist${nl}fix: set HOME or XDG_STATE_HOME to a directory that exists" \
	env -u XDG_STATE_HOME HOME="$work/none" "$HB_BIN" -q true
check_fails 'is not made' test -e none
HOME=$work/none prints 'a HOME that does not exist is not needed if nothing is kept' ran run -q -- echo ran

# Commands and programs.
says 'a near miss of a command' 127 \
	"holdback: there is no program 'docter' in PATH${nl}fix: did you mean 'holdback doctor'?" \
	"$HB_BIN" docter
for word in list:ls audit:log apply:commit discard:rollback review:status \
	'sign:commit --sign'; do
	says "a word of other programs, ${word%:*}, is pointed to ${word#*:}" 127 \
		"holdback: there is no program '${word%:*}' in PATH${nl}fix: did you mean 'holdback ${word#*:}'?" \
		env PATH=/nowhere "$HB_BIN" "${word%:*}"
done
says 'a session after rm means cleanup, and no program runs' 2 \
	"holdback: holdback has no command 'rm' for sessions${nl}fix: holdback cleanup @some; for the program: holdback run -- rm @some" \
	"$HB_BIN" rm @some
says 'no suggestion behind run' 127 \
	"holdback: there is no program 'docter' in PATH" run docter
printf '#!/bin/sh\necho mine\n' >doctor
chmod +x doctor
cp doctor docter
PATH=$work:$PATH prints 'a program that is there is no near miss' mine \
	"$HB_BIN" --ephemeral docter
like 'commands win over programs' \
	"$(PATH=$work:$PATH "$HB_BIN" doctor | head -n 1)" '*user-namespace*'
PATH=$work:$PATH prints 'run runs the program' mine run -- doctor
says 'an operand too many' 2 \
	"holdback: 'doctor' does not take the operand 'x'${nl}fix: try 'holdback doctor --help'" \
	"$HB_BIN" doctor x
says 'help for what is no command' 2 "holdback: unknown command 'rum'${nl}fix: *'holdback run'?" \
	"$HB_BIN" help rum
says 'an unknown shell' 2 "holdback: there is no completion for 'sh'*" \
	"$HB_BIN" completion sh
done_testing
