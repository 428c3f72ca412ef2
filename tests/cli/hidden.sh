#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What is hidden stays hidden, whoever may change modes, rename directories or
# come back; the store is nowhere to be seen; set-up makes nothing.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'
hb() {
	"$HB_BIN" "$@"
}

# What a command that tries everything finds of the word SECRET.
search='
chmod -R u+rwX . 2>/dev/null
grep -rs SECRET . "$@"
:'

mkdir -p p/conf/sub p/closed && cd p || bail 'no directory'
echo SECRET >conf/sub/key
echo SECRET >closed/key
echo SECRET >none && chmod 0 none
chmod 0 closed
echo SECRET >back && chmod 200 back

# Modes: the owner can change them.
set -- --hide none --hide closed --hide back --hide conf/sub/key
prints 'what is closed to its owner is hidden' '' run "$@" sh -c "$search"
prints 'what lies in a closed directory is hidden' '' \
	run --hide none --hide back --hide conf/sub/key --hide closed/key \
	sh -c "$search"
chmod 700 closed
echo SECRET >closed/other
prints 'in an open one only that' ./closed/other:SECRET \
	run --hide none --hide back --hide conf --hide closed/key sh -c "$search"
rm -rf closed none back

# Places: a workspace that is elsewhere, and something that shows it as well.
prints 'hidden at both places' '' run --at /w --ro "$work" \
	--hide conf/sub/key sh -c "$search" sh "$work"
mkdir ../data && echo SECRET >../data/key
prints 'hidden in another directory that is elsewhere' '' \
	run --cow "$work/data:/data" --ro "$work" --hide conf/sub/key \
	--hide "$work/data/key" sh -c "$search" sh "$work" /data
rm -r ../data

# Directories that are moved with what is hidden in them.
direct() {
	hb run -q --direct --hide conf/sub/key "$@" 2>/dev/null
}
direct sh -c 'mv conf/sub conf/elsewhere; mv conf elsewhere; :'
prints 'direct: it cannot be put aside' '' direct sh -c "$search"
is 'direct: a hidden file is where it was' "$(cat conf/sub/key)" SECRET
check 'direct: what is next to it moves' \
	direct sh -c 'echo >conf/x && mv conf/x x && mv x conf/y && rm conf/y'
real() {
	run --rw "$work/p/conf" --hide "$work/p/conf/sub/key" "$@" 2>/dev/null
}
real sh -c 'mv conf/sub conf/elsewhere; :'
prints '--rw: it cannot be put aside' '' real sh -c "$search"

# Links in the project lead to nothing that the view does not have.
echo SECRET >"$HOME/secret"
for name in .vscode .claude .git/hooks .envrc; do
	mkdir -p .git
	ln -s "$HOME" "$name"
	prints "direct: $name to the home directory shows nothing of it" '' \
		direct sh -c 'grep -rs SECRET "$1"; :' sh "$HOME"
	rm -r "$name"
done
rm -r .git "$HOME/secret"
mkdir -p tool/hooks && echo old >tool/hooks/x && ln -s tool/hooks .husky
direct sh -c 'echo new >tool/hooks/x; mv tool other; :' 2>/dev/null
is 'direct: what a link in the project leads to is read-only' \
	"$(cat .husky/x tool/hooks/x)" "old${nl}old"
like 'direct: another link is told of' \
	"$(hb run --direct sh -c 'rm .husky; ln -s conf .husky' 2>&1)" '*.husky*'
is 'direct: the same is not' \
	"$(hb run --direct true 2>&1 | grep -c husky)" 0
rm -r .husky tool
ln -s out/h .husky
like 'direct: what is made behind a link that led nowhere is told of' \
	"$(hb run --direct mkdir -p out/h 2>&1)" '*.husky*was made by the command*'
rm -r .husky out
echo SECRET >"$HOME/secret" && ln -s "$HOME" away
echo 'hide = away/secret' >.holdback.conf
says 'a file of the workspace hides nothing outside of it' 125 \
	"holdback: \[3\] *: key 'hide': 'away/secret' leads out of the workspace${nl}fix: *" \
	run true
rm .holdback.conf away "$HOME/secret"
mkdir ../data && echo SECRET >../data/key && echo other >../data/other
ln -s data ../link
prints 'behind a link only what is to be hidden is' other run --ro "$work" \
	--hide "$work/link/key" --hide conf sh -c 'cat ../link/other; grep -rs SECRET ../link ../data; :'
rm -r ../data ../link

# What the session removed is not made again to be hidden.
check 'a session that removed it' hb run -q -s kept rm -r conf
before=$(hb status @kept)
prints 'goes on with it hidden' '' \
	hb run -q -s kept --hide conf/sub/key --hide conf sh -c "$search"
is 'set-up of a session with a removed hidden file changed nothing' "$(hb status @kept)" "$before"
like 'a removed hidden file is listed as deleted' "$before" '*D conf/*1 file: 1 deleted*'
check 'a session that removed a hidden file can be cleaned up' hb cleanup -y @kept

# Nothing is made among real files.
mkdir ../real ../data
says '--cow in a directory that is real' 125 \
	"holdback: \[2\] '$work/real/new' would lie among files that are real${nl}fix: *" \
	run --rw "$work/real" --cow "$work/data:$work/real/new" true
says '--at likewise' 125 "holdback: \[2\] '$work/real/new' would*" \
	run --rw "$work/real" --at "$work/real/new" true
is 'is not made' "$(ls -A ../real)" ''
rm -r ../real ../data

# A link of the workspace, in PATH, does not name other projects.
mkdir -p ../other/.git venv && echo '{}' >../other/package.json
echo SECRET >../other/notes
printf '#!/bin/sh\nexit 0\n' >../other/tool && chmod +x ../other/tool
ln -s "$work/other/tool" venv/python
printf '#!/usr/bin/env -S -u python sh\ngrep -rs SECRET "$1"\n:\n' >run.sh
chmod +x run.sh
for words in ./run.sh python; do
	unlike "by $words none is shown" "$(PATH=$work/p/venv:$PATH hb run \
		--ephemeral "$words" "$work/other" 2>&1)" '*SECRET*'
done
says 'a hidden program is refused by its name' 127 '*fix: *' \
	env PATH="$work/p/venv:$PATH" "$HB_BIN" run --ephemeral python
rm -r ../other venv run.sh

# The store.
see_store='
test ! -d /w || cd /w
find "$PWD" -name sessions 2>/dev/null
:'
XDG_STATE_HOME=$work/p/.state
export XDG_STATE_HOME
# Before there is one, where a directory above it is really shown.
mkdir ../first
prints 'one that the run makes is not in the view' '' env \
	XDG_STATE_HOME="$work/first" sh -c '"$1" run -q --rw "$2" sh -c \
	"find \"\$1\" -name sessions; echo x >out" sh "$2" 2>/dev/null' sh "$HB_BIN" "$work/first"
is 'the store that a run makes is there' "$(ls ../first/holdback/sessions)" sh-1
rm -rf ../first
check 'a store in the workspace' hb run -q -s one touch x
prints 'is not in the view' '' hb run -q -s two sh -c "$see_store"
prints 'a store in the workspace is not shown at another path of the workspace' '' \
	hb run -q -s three --at /w sh -c "$see_store"
prints 'a store in the workspace is not shown when writes are real' '' sh -c '
	"$1" run -q --direct --at /w sh -c "$2" 2>/dev/null' sh "$HB_BIN" "$see_store"
ln -s p ../link
XDG_STATE_HOME=$work/link/.state
prints 'a store in the workspace is not shown if its name has a link in it' '' hb run -q --ephemeral sh -c "$see_store"
unset XDG_STATE_HOME
prints 'a store in the workspace is not shown if exec names it' '' \
	hb exec --state-dir .state/holdback @one -- sh -c "$see_store"
pending='grep -rs PENDING .; :'
for name in .holdback .holdback-0123456789abcdef; do
	mkdir -m 700 $name $name/store && echo PENDING >$name/store/b
	prints "a run among real files does not show $name of another session" '' direct sh -c "$pending"
	prints "a run with --rw does not show $name" '' sh -c '"$1" run --ephemeral --rw "$2" --at /w \
		--hide conf sh -c "$3" sh "$2" 2>/dev/null' \
		sh "$HB_BIN" "$work/p" 'cd "$1" && grep -rs PENDING .; :'
	prints "a run in memory does not show $name" '' sh -c '"$1" run -q --ephemeral sh -c "$2" 2>/dev/null' \
		sh "$HB_BIN" "$pending"
	[ $name != .holdback ] ||
		prints 'a run in a session does not show the changes of another session' '' sh -c '"$1" run -q -s four sh -c "$2" 2>/dev/null' \
			sh "$HB_BIN" "$pending"
	rm -r $name
done
rm -rf .state ../link "$HOME/.local"

done_testing
