#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Where it is started decides what is the workspace, or that nothing is.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'

# in_dir DIR COMMAND...
in_dir() (
	cd "$1" && shift && "$@"
)

# workspace_in DIR: what the plan has for one.
workspace_in() {
	in_dir "$1" "$HB_BIN" plan run --ephemeral true |
		sed -n 's/^overlay layers="\(.*\)" dest=.*/\1/p'
}

says 'the root directory' 125 \
	"holdback: \[2\] the root directory cannot be a workspace: '/'${nl}fix: *" \
	in_dir / run true
says 'the home directory' 125 \
	"holdback: \[2\] the home directory cannot be a workspace: '$HOME'${nl}fix: *" \
	in_dir "$HOME" run true
says 'what holds the home directory' 125 \
	"holdback: \[2\] a directory that holds the home directory*" \
	in_dir "$HOME/.." run true
says 'the kernel' 125 "holdback: \[2\] the kernel's file systems*" \
	in_dir /proc/self run true
says '/tmp itself' 125 "holdback: \[2\] a directory that is private*" \
	in_dir /tmp run true

gone() (
	mkdir gone && cd gone && rmdir ../gone && run true
)
says 'a directory that is gone' 125 \
	"holdback: \[2\] the working directory is gone${nl}fix: *" gone

mkdir -p repo/.git repo/a/b plain/c
is 'the git top level' "$(workspace_in repo/a/b)" "$work/repo"
is 'a worktree, whose .git is a file' \
	"$(rmdir repo/.git && echo x >repo/.git && workspace_in repo/a)" \
	"$work/repo"
is 'else the directory' "$(workspace_in plain/c)" "$work/plain/c"
mkdir "$HOME/.git" "$HOME/x"
is 'dot files make no workspace of the home directory' \
	"$(workspace_in "$HOME/x")" "$HOME/x"
rmdir "$HOME/.git"
prints 'a workspace in the home directory' "x $HOME/x" \
	in_dir "$HOME/x" run sh -c 'echo $(ls "$HOME") $(pwd)'
rmdir "$HOME/x"

ln -s repo/a link
via_link() (
	cd link && run sh -c 'pwd -P; cd "$1" && pwd -P' sh "$work/link"
)
prints 'a directory reached by a link keeps its other name' \
	"$work/repo/a$nl$work/repo/a" via_link

odd=$(printf 'odd \n,:\\"name')
mkdir "$odd"
prints 'any bytes in a name' x in_dir "$odd" run sh -c 'echo x >y && cat y'
is 'a run in a name of any bytes writes nothing there' "$(ls "$odd")" ''

# Closed descriptors.
prints 'stdin closed' 0: sh -c '"$1" --ephemeral -- sh -c "cat; echo \$?:" <&-' \
	sh "$HB_BIN"
check 'stdout closed' sh -c '"$1" --ephemeral true >&-' sh "$HB_BIN"
check 'stderr closed' sh -c '"$1" --ephemeral true 2>&-' sh "$HB_BIN"
check_exit 'all three closed' 7 \
	sh -c '"$1" --ephemeral sh -c "exit 7" <&- >&- 2>&-' sh "$HB_BIN"
check_exit 'all three closed, and a failure' 125 \
	sh -c '"$1" run --no-such <&- >&- 2>&-' sh "$HB_BIN"
is 'what was closed is /dev/null inside' \
	"$(sh -c '"$1" --ephemeral readlink /proc/self/fd/0 <&-' sh "$HB_BIN")" \
	/dev/null

# A workspace with something mounted below it, made in namespaces of our own.
mkdir -p mounts/below
mounted() {
	"$HB_BWRAP" --dev-bind / / --bind "$work" "$work" \
		--tmpfs "$work/mounts/below" --chdir "$work/mounts" \
		"$HB_BIN" run --ephemeral true
}
says 'a mount below the workspace is named' 125 \
	"holdback: \[6\] something is mounted at '$work/mounts/below': *${nl}fix: start in*" \
	mounted
done_testing
