#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Among real files: whatever a program of the user's would run or obey is
# read-only wherever it lies, all else is writable, and new ones are told of.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

hb() {
	"$HB_BIN" "$@"
}
direct() {
	hb run -q --direct "$@" 2>/dev/null
}
# keeps NAME PATH: the command can neither write, replace nor put it aside.
keeps() {
	name=$1 path=$2
	direct sh -c '
		echo planted >>"$1"
		rm -f "$1" && echo planted >"$1"
		mv "$1" "$1.aside"
		dir=$(dirname "$1")
		while [ "$dir" != . ]; do
			mv "$dir" "$dir.aside" && mkdir -p "$(dirname "$1")" &&
				echo planted >"$1"
			dir=$(dirname "$dir")
		done
		:' sh "$path"
	is "direct: $name is read-only" "$(cat "$path")" old
}
put() {
	mkdir -p "$(dirname "$1")" && echo old >"$1"
}

mkdir p && cd p || bail 'no directory'
git init -q .
for path in .cursor/mcp.json .gemini/settings.json .zed/tasks.json \
	.devcontainer/devcontainer.json .pre-commit-config.yaml .npmrc \
	.github/workflows/ci.yml .claude/skills/x lefthook.yml .cargo/config.toml \
	below/the/top/.vscode/tasks.json below/.envrc below/.github/workflows/x.yml; do
	put "$path"
done
for path in .cursor/mcp.json .gemini/settings.json .zed/tasks.json \
	.devcontainer/devcontainer.json .pre-commit-config.yaml .npmrc \
	.github/workflows/ci.yml .claude/skills/x lefthook.yml .cargo/config.toml \
	below/the/top/.vscode/tasks.json below/.envrc below/.github/workflows/x.yml; do
	keeps "$path" "$path"
done

# Repositories in and beside the repository.
mkdir -p .git/modules/lib .git/worktrees/w
put .git/modules/lib/hooks/pre-commit
put .git/worktrees/w/config.worktree
keeps 'the hook of a submodule' .git/modules/lib/hooks/pre-commit
keeps 'the configuration of a work tree' .git/worktrees/w/config.worktree
rm -r .git/worktrees
git init -q sub
put sub/.git/hooks/pre-commit
keeps 'the hook of a repository below' sub/.git/hooks/pre-commit
git init -q --bare store/bare
put store/bare/hooks/post-update
keeps 'the hook of a bare repository' store/bare/hooks/post-update
for config in .git/modules/lib/config sub/.git/config store/bare/config; do
	[ -e "$config" ] || printf '[core]\n\tbare = false\n' >"$config"
	cp "$config" ../config
	direct sh -c 'git config -f "$1" core.fsmonitor "touch pwned"
		echo "[core] fsmonitor = touch pwned" >>"$1"; :' sh "$config"
	is "direct: $config is read-only" "$(diff "$config" ../config)" ''
done

# Places that the configuration of git names, and that links lead to.
put tools/githooks/pre-push
git config core.hooksPath tools/githooks
keeps 'a hook where core.hooksPath says' tools/githooks/pre-push
git config --unset core.hooksPath
put tools/more.conf
printf '[core]\n\tabbrev = 9\n' >tools/more.conf
git config include.path ../tools/more.conf
direct sh -c 'echo "[core] fsmonitor = x" >>tools/more.conf; mv tools t; :'
is 'direct: a file that the configuration includes is read-only' \
	"$(cat tools/more.conf)" "$(printf '[core]\n\tabbrev = 9')"
git config --unset include.path
# An included file is configuration as well, by whatever condition, and may have
# a name without a slash, from its own directory.
printf '[include]\n\tpath = more of it\n' >.git/one
printf '[core]\n\thooksPath = tools/further\n' >'.git/more of it'
put tools/further/pre-push
for key in include.path "includeIf.gitdir:$PWD/.path"; do
	git config "$key" one
	keeps "a hook of a file that a file of $key includes" tools/further/pre-push
	direct sh -c 'echo >>.git/one; echo >>".git/more of it"; :'
	is "direct: both files of $key are read-only" \
		"$(cat .git/one '.git/more of it' | wc -l)" 4
	git config --unset "$key"
done
rm -r .git/one '.git/more of it' tools/further
put scripts/fsmonitor.sh
git config core.fsmonitor "sh ./scripts/fsmonitor.sh -x"
keeps 'a script that the configuration runs' scripts/fsmonitor.sh
git config --unset core.fsmonitor
put scripts/lint
ln -s ../../scripts/lint .git/hooks/pre-commit
keeps 'a script behind a link in .git/hooks' scripts/lint
rm .git/hooks/pre-commit

# Names and repositories above the directory.
there=$PWD
mkdir -p "$HOME/.config/fish/functions" && cd "$HOME/.config/fish" || bail 'no directory'
put config.fish
put functions/a.fish
keeps 'what fish runs, in a project there,' config.fish
keeps 'what fish runs, below the top,' functions/a.fish
like 'direct: a new file that fish runs is told' \
	"$(hb run -q --direct sh -c 'echo >new.fish' 2>&1)" \
	"*new.fish' was made by the command: fish *"
cd "$there" && rm -r "$HOME/.config"
git init -q outer && mkdir -p outer/sub && cd outer/sub || bail 'no directory'
put hooks/pre-commit
put more.conf
printf '[core]\n\tfsmonitor = sub/watch\n' >more.conf
put watch
git config core.hooksPath sub/hooks
git config include.path ../sub/more.conf
keeps 'a hook of the repository above' hooks/pre-commit
keeps 'a program of a file that it includes' watch
direct sh -c 'echo >>more.conf; :'
is 'direct: a file that the repository above includes is read-only' "$(wc -l <more.conf)" 2
check 'direct: other files there are writable' direct sh -c 'echo >file && rm file'
cd "$there" && rm -r outer
mkdir -p mine/hooks && put mine/hooks/pre-push
printf '[core]\n\thooksPath = %s/mine/hooks\n' "$PWD" >"$HOME/.gitconfig"
keeps "a hook of the user's own configuration" mine/hooks/pre-push
printf '[core]\n\thooksPath = mine/hooks\n' >"$HOME/.gitconfig"
keeps 'the same by a path from the work tree' mine/hooks/pre-push
rm -r mine "$HOME/.gitconfig"

# What is hidden is not shown for being protected.
put closed/.envrc
is 'direct: what is hidden stays hidden' "$(direct --hide closed --hide .npmrc \
	sh -c 'cat closed/.envrc .npmrc closed/*/* 2>/dev/null; :')" ''
keeps 'a file that another run hides' closed/.envrc

# Work goes on.
check 'direct: other files are written, renamed and removed' direct sh -c '
	mkdir -p src/deep && echo x >src/deep/a && mv src/deep/a src/b && rm src/b &&
	echo "{}" >package.json && echo "*.c text" >.gitattributes &&
	echo x >scripts/other && echo x >below/the/file && echo x >sub/file &&
	echo notes >below/README.md && mv below/README.md below/the/README.md'
check 'direct: git adds and commits, here and below' direct sh -c '
	for dir in . sub; do
		(cd $dir && echo x >new && git add new &&
			git -c user.name=n -c user.email=e commit -qm x) || exit 1
	done'

# All that is new is told, in the words of the gate.
told() {
	hb run -q --direct "$@" 2>&1 | grep 'was made by\|was changed by'
}
is 'direct: nothing is told where nothing of that kind is new' \
	"$(told sh -c 'echo x >src/x.c')" ''
like 'direct: a new task below the top is told with its program and its time' \
	"$(told sh -c 'mkdir -p src/.vscode && echo {} >src/.vscode/tasks.json')" \
	"*'$work/p/src/.vscode' was made by the command: VS Code runs it when the folder is opened*"
is 'direct: at the next run it is old' "$(told true)" ''
like 'direct: a new repository below is told' "$(told git init -q fresh)" \
	"*'$work/p/fresh/.git/config' was made by the command: git *"
echo '{"scripts": {"test": "x"}}' >package.json
is 'direct: a file that gets nothing to run is not told' \
	"$(told sh -c 'echo "{\"scripts\": {\"test\": \"y\"}}" >package.json')" ''
like 'direct: a script that is run at install is told' \
	"$(told sh -c 'echo "{\"scripts\": {\"postinstall\": \"x\"}}" >package.json')" \
	"*'$work/p/package.json' was changed by the command: a package manager runs it*"
# A change within a tick of the clock before a run counts as the run's own.
sleep 0.1
many=$(hb run -q --direct sh -c '
	for i in $(seq 30); do mkdir -p "many/$i" && echo >"many/$i/.envrc"; done' 2>&1)
is 'direct: of many that are new twenty are told' \
	"$(echo "$many" | grep -c envrc)" 20
like 'direct: and how many more there are' "$many" '*and 10 more*'

# Limits.
deep=$(printf 'd/%.0s' $(seq 60))
mkdir -p "$deep"
put "${deep}.envrc"
keeps 'a file that lies deeper than the walk goes' "${deep}.envrc"
check 'direct: what lies less deep is writable there' direct sh -c 'echo >d/d/d/file'
mkdir full && cd full || bail 'no directory'
git init -q .
seq 2100 | xargs mkdir
seq -f %g/.envrc 2100 | xargs touch
out=$(hb run -q --direct touch reached 2>&1)
is 'direct: more than can be protected is a refusal' "$?" 125
like 'direct: the refusal says how to go on' "$out" \
	'*too many files that programs run to protect each of them*fix: leave out --direct*'
check_fails 'direct: the command has not begun after a refusal' test -e reached
cd .. && rm -r full
done_testing
