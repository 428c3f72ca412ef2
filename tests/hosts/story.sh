#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
#
# The story of a session on a host that lacks something.  HB_CELL names the host
# (tools/matrix); without it this is the host of the other tests.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

export XDG_STATE_HOME="$work/state"
export HOME="$work/home"
mkdir home home/.ssh p
echo secret >home/.ssh/id
cd p || bail 'no workspace'
git init -q .
git config user.name t
git config user.email t@t
echo one >f
mkdir d
echo two >d/g
git add .
git commit -qm one

# What the host has instead: strategy, words of the start.
strategy=overlay
words='*'
case ${HB_CELL-} in
no-overlay) strategy=copy_on_write words='*a copy instead*' ;;
no-landlock) words='*no landlock*' ;;
esac

if [ "${HB_CELL-}" = no-user-namespaces ]; then
	says 'without user namespaces nothing runs, and the fix is said' 125 \
		'*holdback: [[]6]*user namespace*fix: *' \
		"$HB_BIN" run -q sh -c 'echo ran; echo changed >f'
	is 'without user namespaces the file is as it was' "$(cat f)" one
	done_testing
	exit
fi

"$HB_BIN" run -s story sh -c 'echo changed >f; rm -r d; mkdir n; echo new >n/h
	cat ~/.ssh/id; git status --short' >out 2>said
is 'the command of the story ends well' "$?" 0
like 'the start tells what this host does without' "$(cat said)" "$words"
unlike 'a key of the home directory is out of reach' "$(cat out)" '*secret*'
is 'git inside sees the changes of the command' \
	"$(grep -v '^??' out | sort | tr '\n' ,)" ' D d/g, M f,'
is 'the real file is as it was' "$(cat f)" one
is 'a removed directory is there outside' "$(cat d/g)" two
like 'status names the strategy' "$("$HB_BIN" status @story)" "*$strategy*"
rm -f out said
is 'diff lists each change' "$("$HB_BIN" diff --name-status @story | sort | tr '\t\n' ' ,')" \
	'A n/,A n/h,D d/,D d/g,M f,'
check 'commit brings the changes' "$HB_BIN" commit -y @story
is 'after a commit the files are those of the command' "$(cat f n/h):$(ls)" \
	"changed
new:f
n"
check 'undo takes the commit back' "$HB_BIN" undo @story
is 'after an undo the files are as they were' "$(cat f d/g):$(ls)" \
	"one
two:d
f"
check 'rollback discards the changes' "$HB_BIN" rollback -y @story
check 'cleanup removes the session' "$HB_BIN" cleanup -y @story

# Where the host hands a control group down, each call has one of its own, as
# `systemd-run --user --scope` gives.
scoped() {
	sh -c 'mkdir "$HB_CGROUP/$$" && echo $$ >"$HB_CGROUP/$$/cgroup.procs" &&
		exec "$HB_BIN" "$@"' sh "$@"
}
if [ -w "${HB_CGROUP:-/nowhere}/cgroup.procs" ]; then
	scoped run -q --memory 64M python3 -c 'b = []
for i in range(100): b.append(b"x" * 16000000)' 2>said
	is 'a runaway allocation ends, and not the host' "$?" 137
	rm -f said
fi

# The network by name, as far as this host can catch it.
"$HB_BIN" run --net allow --allow example.org:443 -- true 2>said
is 'a network by name can be had' "$?" 0
case ${HB_CELL-} in
no-nf-tables)
	like 'without nf_tables the start says how the network is caught' \
		"$(cat said)" '*port*'
	;;
esac
rm -f said
done_testing
