#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 180
#
# Tools of the home directory: managers by a table, other programs of PATH one
# by one.  Hidden paths, the store and other projects win over every rule.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'
HOME=$work/home
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME PATH
mkdir home p && cd p || bail 'no directory'
system=$PATH

# put FILE TEXT: in the home directory.
put() {
	mkdir -p "$HOME/$(dirname "$1")"
	printf '%s\n' "$2" >"$HOME/$1"
}
# program FILE WORD: one that prints the word.
program() {
	put "$1" "#!/bin/sh${nl}echo $2"
	chmod +x "$HOME/$1"
}
# leaks: the files inside that have the word SECRET.
leaks() {
	run -q sh -c 'grep -rls SEC[R]ET "$HOME"; :' 2>/dev/null
}
# clear: an empty home directory.
clear() {
	rm -rf "$HOME"
	mkdir "$HOME"
}

# H13: the table itself.
"$HB_BIN" profile base >"$work/table"
below=$(awk '$1 == "show" && $3 ~ /^~/ { show[$3] = 1 }
	$1 == "hide" && $3 ~ /^~/ { hide[$3] = 1 }
	END { for (h in hide) for (s in show)
		if (index(h "/", s "/") == 1 || index(s "/", h "/") == 1) print h, s }' \
	"$work/table")
check 'the table has managers' grep -q 'show = ~/.pyenv/versions' "$work/table"
is 'H13 no directory of the table lies above or below a hidden path' "$below" ''

# H13: a row of the table that a link makes something else.
put .ssh/id SECRET
put notes SECRET
ln -s "$HOME" "$HOME/.fnm"
is 'H13 a toolchain that is a link to the home directory shows nothing' "$(leaks)" ''
rm "$HOME/.fnm"
ln -s .ssh "$HOME/.rustup"
is 'H13 a toolchain that is a link to keys shows nothing' "$(leaks)" ''
rm "$HOME/.rustup"
mkdir -p "$HOME/shop/.git" && put shop/bin/notes SECRET
mkdir "$HOME/.local" && ln -s ../shop/bin "$HOME/.local/bin"
is 'H13 a toolchain that is a link into another project shows nothing' "$(leaks)" ''
rm -r "$HOME/.local" && mkdir "$HOME/data" && ln -s data "$HOME/.local"
put data/bin/tool fine
prints 'a toolchain behind a link is shown where it was' fine \
	run -q sh -c 'cat ~/.local/bin/tool'
rm "$HOME/.local"
mkdir -p "$HOME/.fnm/.git" && put .fnm/notes SECRET
is 'H13 a toolchain that is a project itself shows nothing' "$(leaks)" ''
rm -r "$HOME/.fnm"
mkdir -p "$HOME/.local/lib/shop/.git" && put .local/lib/shop/notes SECRET
put .local/lib/node_modules/x fine
prints 'H13 a project in a directory of the table is not shown, its neighbour is' fine \
	run -q sh -c 'cat ~/.local/lib/node_modules/x; grep -rs SEC[R]ET ~; :'
rm -r "$HOME/.local"

# H13: the store.
put .local/lib/x fine
prints 'H13 a store in a directory of the table is not shown' fine \
	env XDG_STATE_HOME="$HOME/.local/lib/state" sh -c '
	"$1" run -q -s one touch made && "$1" run -q -s two sh -c \
		"cat ~/.local/lib/x; find ~ -name sessions 2>/dev/null; :"' sh "$HB_BIN"
clear

# H13: the package of a command.
for place in .config/bin .local/sbin; do
	mkdir -p "$HOME/${place%/*}/lib"
	put .config/gh/hosts.yml SECRET
	put .local/state/holdback/notes SECRET
	program "$place/x" ran
	unlike "H13 the package of a command in $place shows neither keys nor the store" \
		"$(run "$HOME/$place/x" 2>&1; leaks)" '*SECRET*'
	clear
done
mkdir -p "$HOME/shop/.git" "$HOME/shop/lib"
put shop/notes SECRET
program shop/bin/x ran
says 'H13 a command of another project does not show the project' 127 \
	"holdback: '$HOME/shop/bin/x' is not in the view*${nl}fix: --ro $HOME/shop/bin" \
	run "$HOME/shop/bin/x"
prints 'a command of another project runs where its directory is asked for' ran \
	run -q --ro "$HOME/shop/bin" "$HOME/shop/bin/x"
clear

# Programs of PATH, one by one.
program bin/tool tool
program bin/sub/inner SECRET
put bin/notes SECRET
mkdir -p "$HOME/opt/x" && put opt/x/notes SECRET
program opt/x/run led
ln -s ../opt/x/run "$HOME/bin/led"
ln -s led "$HOME/bin/twice"
ln -s ../none "$HOME/bin/broken"
mkdir -p "$HOME/shop/.git" && program shop/tool SECRET
ln -s ../shop/tool "$HOME/bin/foreign"
program .ssh/tool SECRET
ln -s ../.ssh/tool "$HOME/bin/key"
PATH=$HOME/bin:$system
prints 'programs of ~/bin are there by their names' "tool${nl}led${nl}led" \
	run -q sh -c 'tool && led && twice'
prints 'a program of ~/bin is a command' tool run -q tool
prints 'a link in ~/bin is a command' led run -q led
is 'of ~/bin nothing else is there' "$(run -q sh -c 'ls ~/bin; ls ~/opt/x' | xargs)" \
	'led tool twice run'
is 'neither another project nor a hidden file is there by a link in PATH' "$(leaks)" ''
prints 'PATH has ~/bin' "$HOME/bin:$system" run -q sh -c 'echo "$PATH"'
check_fails 'a program of ~/bin cannot be written' run -q sh -c 'echo x >>~/bin/tool'
like 'a line tells of links that are not shown' "$(on_terminal 'run --ephemeral true')" \
	'*PATH: 2 links to hidden files or other projects are not shown inside; --ro FILE shows one*'
is 'a program that is hidden by a setting is not there' \
	"$(run -q --hide "$HOME/bin/tool" sh -c 'tool || echo none' 2>/dev/null)" none
like 'why tells of a program' "$("$HB_BIN" why "$HOME/bin/tool")" \
	'*read-only*a program of PATH*'
[ "$HB_MODE" = root ] || is 'programs of ~/bin are there without namespaces' \
	"$("$HB_PROBE" deny 'clone:0&0x10000000' EPERM -- \
		"$HB_BIN" run --allow-degraded -q -s bare sh -c 'tool && led' 2>/dev/null)" "tool${nl}led"
ln -s bin "$HOME/scripts"
PATH=$HOME/scripts:$system
prints 'a directory of PATH that is a link is one' tool run -q sh -c 'tool'
i=0
while [ $i -lt 300 ]; do
	program "many/t$i" x
	i=$((i + 1))
done
mkdir -p "$HOME/empty" "$HOME/.aws" "$work/outside"
program .aws/x SECRET
PATH=$HOME/many:$HOME/shop:$HOME/empty:$HOME/.aws:$work/outside:$HOME/none:$system
like 'a line tells of directories of PATH that are not there' \
	"$(on_terminal 'run --ephemeral true')" \
	'*PATH: ~/many, ~/shop, ~/empty and 2 more are not shown inside; --ro DIR shows one of them*'
is 'of too many programs none is there' "$(run -q sh -c 'ls ~ | xargs; echo $PATH' 2>&1)" \
	"${nl}$system"
PATH=$HOME/shop:$system
like 'a line tells of one directory' "$(on_terminal 'run --ephemeral true')" \
	'*PATH: ~/shop is not shown inside; --ro DIR shows it*'
prints 'the option that it names shows the directory' SECRET \
	run -q --ro "$HOME/shop" tool
unlike 'nothing is told where nothing is missing' \
	"$(PATH=$system on_terminal 'run --ephemeral true')" '*PATH*'
clear
"$HB_BIN" cleanup -y --all >/dev/null 2>&1

# Installations that are known by a sign.
for sign in pyvenv.cfg conda-meta .opam-switch pkg/tool lib/modules; do
	put env/$sign x
	put env/lib/data fine
	program env/bin/tool tool
	prints "an installation with $sign is shown" fine \
		env PATH="$HOME/env/bin:$system" "$HB_BIN" run --ephemeral -q sh -c 'cat ~/env/lib/data'
	rm -r "$HOME/env"
done
for place in shop/env .ssh/env .; do
	mkdir -p "$HOME/shop/.git"
	put $place/pyvenv.cfg x
	put $place/lib/data SECRET
	program $place/bin/tool tool
	is "an installation in $place is not shown" "$(PATH=$HOME/$place/bin:$system leaks)" ''
	clear
done
put conda/conda-meta/x fine
put conda/.condarc SECRET
program conda/bin/tool tool
prints 'the token of a channel is not shown with conda' fine \
	env PATH="$HOME/conda/bin:$system" "$HB_BIN" run --ephemeral -q sh -c \
	'cat ~/conda/conda-meta/x; cat ~/conda/.condarc 2>/dev/null; tool >/dev/null'
clear

# Variables of toolchains.
mkdir -p "$HOME/.pyenv/versions" "$HOME/.sdkman/candidates/java" "$HOME/go/bin" "$HOME/jdk/bin"
for pair in "PYENV_ROOT=$HOME/.pyenv" "JAVA_HOME=$HOME/.sdkman/candidates/java" "GOPATH=$HOME/go" \
	"JAVA_HOME=/usr" "VIRTUAL_ENV=$PWD"; do
	is "${pair%%=*} passes with its directory: ${pair#*=}" \
		"$(env "$pair" "$HB_BIN" run --ephemeral -q env | grep -Fx "$pair")" "$pair"
done
for pair in "JAVA_HOME=$HOME/jdk" "GOPATH=$HOME/go:$HOME/jdk" "GOPATH=go" "CONDA_PREFIX=" \
	"PYTHONHOME=/usr" "RUSTUP_HOME=$HOME/none"; do
	is "$pair does not pass" \
		"$(env "$pair" "$HB_BIN" run --ephemeral -q env | grep "^${pair%%=*}=")" ''
done
clear
done_testing
