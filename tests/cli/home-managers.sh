#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3 node git
# timeout: 180
#
# Tools of the home directory as their managers lay them out: the program that
# is found by its name inside is the one outside, and works.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

HOME=$work/home
system=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
PATH=$system
export HOME PATH
mkdir home p && cd p || bail 'no directory'

# same NAME SCRIPT: it prints the same inside as outside, and something.
same() {
	same_out=$(sh -c "$2" 2>/dev/null)
	is "$1" "$(run -q sh -c "$2" 2>&1)" "${same_out:-nothing outside}"
}
# program FILE SCRIPT
program() {
	mkdir -p "$(dirname "$1")"
	printf '#!/bin/sh\n%s\n' "$2" >"$1"
	chmod +x "$1"
}
which_python='python3 -c "import sys; print(sys.executable, sys.prefix, sys.base_prefix)"'

same 'python3 inside is the one outside' "$which_python"

# A venv anywhere in the home directory, with a package in it.
python3 -m venv --without-pip "$HOME/envs/one" || bail 'no venv'
site=$("$HOME/envs/one/bin/python3" -c 'import site; print(site.getsitepackages()[0])')
mkdir "$site/mine" && echo 'name = "mine"' >"$site/mine/__init__.py"
PATH=$HOME/envs/one/bin:$system
VIRTUAL_ENV=$HOME/envs/one
export VIRTUAL_ENV
same 'python3 of a venv is the one outside' "$which_python"
same 'a package of a venv is there' 'python3 -c "import mine; print(mine.name)"'
same 'VIRTUAL_ENV names the venv' 'echo "$VIRTUAL_ENV"'
unset VIRTUAL_ENV

# pipx and uv: a venv for each tool, and a link to its program.
for tools in .local/share/pipx/venvs .local/pipx/venvs .local/share/uv/tools; do
	env=$HOME/$tools/one
	python3 -m venv --without-pip "$env" || bail 'no venv'
	site=$("$env/bin/python3" -c 'import site; print(site.getsitepackages()[0])')
	mkdir "$site/mine" && echo "name = '$tools'" >"$site/mine/__init__.py"
	printf '#!%s/bin/python3\nimport mine\nprint(mine.name)\n' "$env" >"$env/bin/tool"
	chmod +x "$env/bin/tool"
	mkdir -p "$HOME/.local/bin" && ln -sf "$env/bin/tool" "$HOME/.local/bin/tool"
	PATH=$HOME/.local/bin:$system
	same "a tool of $tools is the one outside" tool
	prints "a tool of $tools is a command" "$tools" run -q tool
done

# pyenv: a checkout with shims.
pyenv=$HOME/.pyenv
mkdir -p "$pyenv/.git" && echo SECRET >"$pyenv/notes"
program "$pyenv/libexec/pyenv" 'v=$(cat ~/.pyenv/version); shift; p=$1; shift; exec ~/.pyenv/versions/$v/bin/$p "$@"'
mkdir -p "$pyenv/bin" && ln -s ../libexec/pyenv "$pyenv/bin/pyenv"
program "$pyenv/shims/python3" 'exec "$HOME/.pyenv/libexec/pyenv" exec python3 "$@"'
echo 3.9.9 >"$pyenv/version"
program "$pyenv/versions/3.9.9/bin/python3" 'echo python3 of pyenv'
PATH=$pyenv/shims:$pyenv/bin:$system
same 'python3 of pyenv is the one outside' 'python3'
same 'PATH has the directories of pyenv' 'echo "$PATH"'
check_fails 'of the checkout of pyenv nothing else is there' run -q cat "$pyenv/notes"

# npm with a prefix in the home directory.
if command -v npm >/dev/null; then
	mkdir -p ../tool/package && cd ../tool || bail 'no directory'
	echo '{"name":"hb-tool","version":"1.0.0","bin":{"hb-tool":"cli.js"}}' >package/package.json
	printf '#!/usr/bin/env node\nconsole.log(require("./lib.js"))\n' >package/cli.js
	echo 'module.exports = "tool of npm"' >package/lib.js
	tar -czf tool.tgz package
	for prefix in .npm-global npm/prefix; do
		npm install -g --offline --no-audit --no-fund --prefix "$HOME/$prefix" ./tool.tgz >/dev/null 2>&1
	done
	cd ../p || bail 'no directory'
	for prefix in .npm-global npm/prefix; do
		PATH=$HOME/$prefix/bin:$system
		same "a program of npm is there, prefix $prefix" 'hb-tool'
		prints "a program of npm is a command, prefix $prefix" 'tool of npm' run -q hb-tool
	done
	echo SECRET >"$HOME/npm/prefix/notes"
	check_fails 'of the prefix of npm nothing else is there' run -q cat "$HOME/npm/prefix/notes"
else
	skip 'a program of npm is there' 'there is no npm'
fi

# nvm: a node for each version, with its own packages.
node=$HOME/.nvm/versions/node/v20.0.0
mkdir -p "$HOME/.nvm/.git" "$node/bin" "$node/lib/node_modules/x"
ln -s "$(command -v node)" "$node/bin/node"
echo 'console.log("package of nvm")' >"$node/lib/node_modules/x/cli.js"
printf '#!/usr/bin/env node\nrequire("%s")\n' "$node/lib/node_modules/x/cli.js" >"$node/bin/x"
chmod +x "$node/bin/x"
NVM_DIR=$HOME/.nvm
PATH=$node/bin:$system
export NVM_DIR
same 'node of nvm is the one outside' 'command -v node; node -p process.execPath'
same 'a package of nvm is there' 'x'
same 'NVM_DIR names the directory' 'echo "$NVM_DIR"'

# rustup: proxies that lead to a toolchain.
program "$HOME/.cargo/bin/rustup" 'exec "$HOME/.rustup/toolchains/stable/bin/${0##*/}"'
ln -s rustup "$HOME/.cargo/bin/rustc"
program "$HOME/.rustup/toolchains/stable/bin/rustc" 'echo rustc of rustup'
echo SECRET >"$HOME/.cargo/credentials.toml"
PATH=$HOME/.cargo/bin:$system
same 'rustc of rustup is the one outside' 'rustc'
check_fails 'the credentials of cargo are not there' run -q cat "$HOME/.cargo/credentials.toml"

# asdf and mise: shims, and what they choose by.
program "$HOME/.asdf/bin/asdf" 'shift; exec "$HOME/.asdf/installs/$1/$(cat ~/.tool-versions)/bin/$1"'
program "$HOME/.asdf/shims/tool" 'exec "$HOME/.asdf/bin/asdf" exec tool'
program "$HOME/.asdf/installs/tool/1.0/bin/tool" 'echo tool of asdf'
echo 1.0 >"$HOME/.tool-versions"
PATH=$HOME/.asdf/shims:$system
same 'a tool of asdf is the one outside' 'tool'

# Managers that keep more than tools: its parts are there, and no other.
# parts NAME PROGRAM-DIRECTORY FILE...: the files are not there.
parts() {
	parts_name=$1
	program "$HOME/$2/$parts_name-tool" "echo tool of $parts_name"
	PATH=$HOME/$2:$system
	shift 2
	same "a tool of $parts_name is the one outside" "$parts_name-tool"
	for file; do
		mkdir -p "$(dirname "$HOME/$file")" && echo SECRET >"$HOME/$file"
		check_fails "$file is not there" run -q cat "$HOME/$file"
	done
}
parts sdkman .sdkman/candidates/java/current/bin .sdkman/archives/x.zip .sdkman/tmp/x .sdkman/ext/x
parts volta .volta/bin .volta/hooks.json .volta/cache/x .volta/log/x
parts bun .bun/bin .bun/install/cache/x .bun/notes
parts deno .deno/bin .deno/notes .deno/gen/x
parts rye .rye/shims .rye/credentials .rye/config.toml
parts pixi .pixi/bin .pixi/credentials.json .pixi/config.toml
parts proto .proto/bin .proto/.prototools .proto/temp/x
program "$HOME/.bun/install/global/node_modules/x/cli" 'echo package of bun'
ln -s ../install/global/node_modules/x/cli "$HOME/.bun/bin/x"
program "$HOME/.volta/tools/image/node/20/bin/node" 'echo node of volta'
program "$HOME/.volta/bin/volta-node" 'exec "$HOME/.volta/tools/image/node/20/bin/node"'
PATH=$HOME/.bun/bin:$HOME/.volta/bin:$system
same 'a global package of bun is there' x
same 'a shim of volta finds its image' volta-node

# fnm: a link in the runtime directory leads to a version.
mkdir -p "$work/run/shell" "$HOME/.local/share/fnm/node-versions/v20/installation/bin"
program "$HOME/.local/share/fnm/node-versions/v20/installation/bin/fnm-node" 'echo node of fnm'
ln -s "$HOME/.local/share/fnm/node-versions/v20/installation" "$work/run/shell/one"
PATH=$work/run/shell/one/bin:$system
same 'a directory of PATH outside of the home directory may lead into it' 'fnm-node'
done_testing
