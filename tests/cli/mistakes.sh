#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: script
#
# Mistakes that people make are told before the command runs, or with the way
# out.
# shellcheck disable=SC2154 # set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

XDG_STATE_HOME=$work/state
export XDG_STATE_HOME
mkdir p && cd p || bail 'no directory'
git init -q . || bail 'no git'

# The store.
like 'a store in the project is said at the start' \
	"$(XDG_STATE_HOME=$work/p/.state "$HB_BIN" run -- true 2>&1)" \
	"*the sessions lie in the project, at '$work/p/.state/holdback'*--state-dir*"
unlike 'a store elsewhere is not said' "$("$HB_BIN" run -- true 2>&1)" '*the sessions lie*'
is 'a quiet run does not say it' "$(XDG_STATE_HOME=$work/p/.state "$HB_BIN" run -q -- true 2>&1)" ''
rm -rf .state

# State of an agent that cannot be read, as after a run of the agent by sudo.
if [ "$HB_MODE" = user ]; then
	mkdir -p "$work/home/.claude" && chmod 0 "$work/home/.claude"
	closed() {
		HOME=$work/home "$HB_BIN" run --profile claude -- echo ran 2>&1
	}
	like 'a state directory that the user may not read is said, and the agent runs' "$(closed)" \
		"*'$work/home/.claude' belongs to user $(id -u), and you may not read it: *chown or chmod it*ran*"
	chmod 700 "$work/home/.claude"
	unlike 'a state directory that can be read is not said' "$(closed)" '*may not read it*'
	rm -r "${work:?}/home"
fi

# A project that cannot be committed to.
if [ "$HB_MODE" = user ]; then
	mkdir fixed && cd fixed && git init -q . && chmod 555 .
	like 'a project that the user may not write to is said at the start' "$("$HB_BIN" run -- true 2>&1)" \
		"*you may not write to '$work/p/fixed': changes can be looked at, and not be committed*"
	unlike 'without a session there is nothing to commit' \
		"$("$HB_BIN" run --ephemeral -- true 2>&1)" '*committed*'
	chmod 755 .
	unlike 'a project that can be written to is not said' "$("$HB_BIN" run -- true 2>&1)" '*committed*'
	cd .. && rm -rf fixed
fi
if [ "$HB_MODE" = root ]; then
	mkdir image && mount -t tmpfs none image && git init -q image && mount -o remount,ro image
	like 'a project on a read-only file system is said at the start' "$(cd image && "$HB_BIN" run -- true 2>&1)" \
		"*the file system is read-only at '$work/p/image': changes can be looked at, and not be committed*"
	umount image && rmdir image

	# root has no rights over the files of others inside.
	mkdir theirs && git init -q theirs && chown -R 65534 theirs
	like 'root in the directory of another user is told' "$(cd theirs && "$HB_BIN" run --ephemeral -- true 2>&1)" \
		"*'$work/p/theirs' belongs to user 65534, and root inside may not write there*"
	unlike 'root in its own directory is not' "$("$HB_BIN" run --ephemeral -- true 2>&1)" '*belongs to*'
	rm -rf theirs
	like 'by sudo it is said whose the sessions are' "$(SUDO_USER=ann "$HB_BIN" run -- true 2>&1)" \
		"*this session is root's, in '$work/state/holdback', and not among those of 'ann'*"
	like 'by sudo a list says whose sessions it has' "$(SUDO_USER=ann "$HB_BIN" ls 2>&1)" \
		"holdback: by sudo: these are root's sessions, and those of 'ann' are not among them*"
	mkdir -p "$work/ann/.local/state/holdback" && chown -R 65534 "$work/ann"
	like 'by sudo that keeps the home of the user its store is refused' \
		"$(XDG_STATE_HOME='' HOME=$work/ann SUDO_USER=ann "$HB_BIN" run -- true 2>&1)" \
		"*'$work/ann/.local/state/holdback' belongs to user 65534, not to you*fix: --state-dir*"
	is 'a store that the user named is not said to be of root' \
		"$(SUDO_USER=ann "$HB_BIN" ls --state-dir "$work/other" 2>&1)" ''
else
	unlike 'a variable alone is not sudo' "$(SUDO_USER=ann "$HB_BIN" run -- true 2>&1)" '*sudo*'
fi

# A sandbox in a sandbox.
inner=$(dirname "$(dirname "$HB_BIN")")
out=$("$HB_BIN" run --ro "$inner" --ro "$HB_LIBEXEC" -- "$HB_BIN" run -- true 2>&1)
unlike 'a run inside a run tells no place of changes that there will not be' "$out" '*pending changes are kept*'
like 'a run inside a run has the way out' "$out" \
	'*fix: *the sandbox around it holds already: AGENT_SANDBOX=off, or --allow-nested for the outer one*'
is 'the way out works' "$("$HB_BIN" run --ephemeral -q --ro "$inner" --ro "$HB_LIBEXEC" -- \
	env AGENT_SANDBOX=off "$HB_BIN" run -q -- echo ran 2>/dev/null)" ran

# The home directory.
HOME=$work/home
export HOME
mkdir "$HOME"
says 'a session over the home directory takes a question' 2 \
	'*the home directory cannot be a workspace*fix: name a directory in it*' "$HB_BIN" create hh --cow "$HOME"
is 'without an answer there is no session' "$("$HB_BIN" ls)" ''
like 'on a terminal it is asked' "$(on_terminal "create hh --cow '$HOME'")" '*could read all of it but known keys; go on?*'
echo y | script -qec "'$HB_BIN' create hh --cow '$HOME'" /dev/null >/dev/null
like 'yes makes the session' "$("$HB_BIN" ls)" 'hh *'
"$HB_BIN" cleanup -y @hh >/dev/null

# A directory that is gone has one number: that of a wrong call.
mkdir ../gone && cd ../gone && rmdir "$work/gone" || bail 'no directory'
for words in status diff commit gate 'why /etc' 'plan run true' rollback undo cleanup verify state 'mark a' sync caps; do
	# shellcheck disable=SC2086 # words of a call
	says "$words in a directory that is gone" 2 'holdback: the working directory is gone*fix: change to*' \
		"$HB_BIN" $words
done
for words in true 'run true' 'exec true' shell keep; do
	# shellcheck disable=SC2086 # words of a call
	says "$words in a directory that is gone" 125 'holdback: \[2\] the working directory is gone*fix: change to*' \
		"$HB_BIN" $words
done
says 'create in a directory that is gone' 2 "holdback: the directory '.' is gone*fix: change to*" \
	"$HB_BIN" create x --cow .
cd "$work" || exit

# A word of another program that means a command without a session.
says 'list names the command that takes no session' 2 \
	"holdback: holdback has no command 'list' for sessions*fix: holdback ls; for the program: *" \
	"$HB_BIN" list @x
done_testing
