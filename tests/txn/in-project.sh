#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A project on another file system, with no place of the user's above it: its
# pending changes lie in the project, and neither git nor a box gets at them.
# needs: git
. "$HB_TESTS/lib/txn.sh"

# Directly below a directory that belongs to somebody else, or to everybody.
project=$(mktemp -d /dev/shm/holdback.XXXXXX) || skip_all 'no /dev/shm'
if [ "$(stat -c %d "$project")" = "$(stat -c %d "$TMPDIR")" ]; then
	rmdir "$project"
	skip_all 'there is one file system'
fi
case $(uname -r) in [0-5].*) skip_all 'layers in memory take a newer kernel' ;; esac
export GIT_CONFIG_GLOBAL="$TMPDIR/gitconfig" GIT_CONFIG_NOSYSTEM=1
printf '[user]\n\tname = u\n\temail = u@example.org\n' >"$GIT_CONFIG_GLOBAL"
vcs() { git -C "$project" -c safe.directory='*' "$@"; }

vcs init -q
echo one >"$project/f"
vcs add f
vcs commit -qm one
hb create s --cow "$project" >"$TMPDIR/said" 2>&1
if ! in_box 'echo two >f; echo new >g' 2>"$TMPDIR/err"; then
	rm -rf "$project"
	skip_all "$(cat "$TMPDIR/err")"
fi
like 'create says that the store lies in the project' "$(cat "$TMPDIR/said")" \
	"*'$project/.holdback'*"
rm -f "$TMPDIR/said" "$TMPDIR/err"

is 'the store is one directory of a fixed name' \
	"$(cd "$project" && echo .h*)" .holdback
is 'git status does not show it' "$(vcs status --short)" ''
is 'git add -A passes' "$(vcs add -A 2>&1; echo $?)" 0
is 'git add -A stages nothing of the store' "$(vcs diff --cached --name-only)" ''
is 'nothing is written in .git' "$(cat "$project/.git/info/exclude" |
	grep -cv '^#')" 0
echo untracked >"$project/u"
check 'git stash -u passes' vcs stash -u -q
is 'the untracked file is stashed' "$(ls "$project")" f
check 'the stashed file comes back' vcs stash pop -q
is 'all of it' "$(cat "$project/u")" untracked
check 'git clean -fd passes' vcs clean -fdq
is 'the session has its changes after git clean -fd' "$(names)" 'M f,A g,'
vcs clean -fdxq >/dev/null 2>&1
is 'the session has its changes after git clean -fdx' "$(names)" 'M f,A g,'
# Modes are nothing to root.
if [ "$(id -u)" != 0 ]; then
	is 'git does not see the store after git clean -fdx' "$(vcs status --short)" ''
	vcs clean -ffdxq >/dev/null 2>&1
	is 'the session has its changes after git clean -ffdx' "$(names)" 'M f,A g,'
	is 'git does not see the store after git clean -ffdx' "$(vcs status --short)" ''
fi
check 'rollback' hb rollback -y @s
is 'throws it away' "$(in_box 'cat f')" one
check 'undo of it, with a box between' hb undo @s
is 'brings it back' "$(names)" 'M f,A g,'

# What boxes see.
is 'its own box does not see the store' "$(in_box 'ls -A')" "$(printf '.git\nf\ng')"
hb create t --cow "$project" >/dev/null 2>&1
is 'the box of another session does not see the store' "$(hb exec @t -- ls -A)" "$(printf '.git\nf')"
look='find . -name upper -o -name "ID-*" 2>/dev/null; cat .holdback/store/*/upper/g 2>/dev/null
	git status --short; : >.holdback/x'
is 'a box whose writes are real does not see the store' "$(cd "$project" &&
	"$HB_BIN" run -q --direct sh -c "$look" 2>/dev/null)" ''
is 'git in a box whose writes are real is clean' "$(cd "$project" &&
	"$HB_BIN" run -q --ephemeral sh -c 'git status --short 2>&1')" ''
check_fails 'a box whose writes are real cannot write the store' test -e "$project/.holdback/x"
is 'a box in memory does not see the store' "$(cd "$project" &&
	"$HB_BIN" run -q --ephemeral sh -c "$look" 2>/dev/null)" ''
mkdir "$work/other"
is 'a box that is shown the project does not see the store' "$(cd "$work/other" &&
	"$HB_BIN" run -q --ephemeral --ro "$project" sh -c "cd $project; $look" 2>/dev/null)" ''
is 'a box that may write the project does not see the store' "$(cd "$work/other" &&
	"$HB_BIN" run -q --ephemeral --rw "$project" sh -c "cd $project; $look" 2>/dev/null)" ''
in_box 'mkdir .holdback && echo x >.holdback/x' 2>/dev/null
is 'the name is no change' "$(names)" 'M f,A g,'

check 'commit' hb commit -y @s
is 'brings it' "$(cat "$project/f" "$project/g")" "$(printf 'two\nnew')"
check 'undo' hb undo @s
is 'takes it back' "$(cat "$project/f"; ls "$project")" "$(printf 'one\nf')"
check 'redo' hb redo @s
is 'redo of a store in the project brings the changes again' "$(cat "$project/f" "$project/g")" "$(printf 'two\nnew')"
hb cleanup -y @s >/dev/null
check 'the store of the other session stays' test -d "$project/.holdback/store"
hb cleanup -y @t >/dev/null
is 'cleanup of the last session removes the directory' \
	"$(ls -A "$project")" "$(printf '.git\nf\ng')"

# A name that was planted before there is a store.
mkdir "$work/victim"
planted() { # WORDS: no session is made, and nothing lies where the link leads
	check_fails "no session is made over $1" hb create planted --cow "$project"
	is "nothing is written through $1" "$(ls -A "$work/victim")" ''
	rm -r "$project/.holdback"
}
ln -s "$work/victim" "$project/.holdback"
planted 'a planted link in the place of the store'
mkdir -m 700 "$project/.holdback"
ln -s "$work/victim" "$project/.holdback/store"
planted 'a planted link in the store'
mkdir -m 700 "$project/.holdback" "$project/.holdback/store"
ln -s "$work/victim/ignored" "$project/.holdback/.gitignore"
planted 'a planted list for git in the store'
mkdir -m 755 "$project/.holdback"
planted 'a planted directory that others may enter'
rmdir "$work/victim"

# A box that was there before the first session of this directory.
run() { (cd "$project" && XDG_STATE_HOME=$TMPDIR/xdg exec "$HB_BIN" run -q "$@"); }
mkfifo "$work/go" "$work/out"
for how in --direct --ephemeral; do
	(cd "$project" && XDG_STATE_HOME=$TMPDIR/xdg exec "$HB_BIN" run -q $how --rw "$work" sh -c '
		echo ready >"$1/out"; read -r x <"$1/go"
		cat .holdback/store/*/upper/pending; echo forged >.holdback/store/forged
		find .holdback ! -name .holdback >"$1/seen"' sh "$work") 2>/dev/null &
	box=$!
	read -r _ <"$work/out"
	run sh -c 'echo pending >pending'
	echo go >"$work/go"
	wait "$box"
	is "a box with $how that is live already sees nothing of a later session" \
		"$(cat "$work/seen")" ''
	check_fails 'a live box with $how wrote nothing into a later store' test -e "$project/.holdback/store/forged"
	(cd "$project" && "$HB_BIN" cleanup -y --state-dir "$TMPDIR/xdg/holdback" @sh-1) >/dev/null
done
is 'nothing is left of the runs' "$(ls -A "$project")" "$(printf '.git\nf\ng')"
run --direct true 2>/dev/null
is 'a run that wrote directly leaves nothing of the store' "$(ls -A "$project")" "$(printf '.git\nf\ng')"
like 'a run says where its changes are kept' "$(cd "$project" &&
	XDG_STATE_HOME=$TMPDIR/xdg "$HB_BIN" run true 2>&1)" "*'$project/.holdback'*"
rm -rf "$TMPDIR/xdg"

# Sessions of the version before.
hb create s --cow "$project" >/dev/null 2>&1
in_box 'echo old >f; echo h >h'
check 'a session as the version before made it' \
	python3 "$HB_TESTS/lib/berth_before.py" "$state/sessions/s"
like 'lies in a directory with its id' "$(cd "$project" && echo .h*)" '.holdback-*'
is 'has its changes' "$(names)" 'M f,A h,'
is 'runs' "$(in_box 'cat f; ls -A')" "$(printf 'old\n.git\nf\ng\nh')"
check 'commits' hb commit -y @s
is 'all' "$(cat "$project/f" "$project/h")" "$(printf 'old\nh')"
check 'is undone' hb undo @s
is 'too' "$(cat "$project/f"; ls "$project")" "$(printf 'two\nf\ng')"
check 'is cleaned up' hb cleanup -y @s
is 'cleanup of a store in the project leaves nothing' "$(ls -A "$project")" "$(printf '.git\nf\ng')"

rm -rf "$project" "$GIT_CONFIG_GLOBAL"
project=$work/p
finish
