#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 300
#
# The key `git`: of the run that made the session, or else of the configuration.
# An option comes first, and a file in the workspace may only say `branch`.
. "$HB_TESTS/lib/git.sh"

branch_line='1 commit goes to holdback/s; then: git merge holdback/s'
# A run takes its store from a variable alone.
run() {
	(cd "$project" && XDG_STATE_HOME=$state exec "$HB_BIN" run -q "$@")
}
mkdir -p "$HOME/.config/holdback"
config=$HOME/.config/holdback/config
# says CASE LINE: all commands that look at the session agree.
says() {
	like "$1: status" "$(hb status @s)" "*$2*"
	like "$1: diff" "$(hb diff @s)" "*$2*"
	like "$1: commit" "$(hb commit -n --no-gate @s)" "*$2*"
	like "$1: sync" "$(hb sync -n @s)" "*$2*"
}

new_repository
in_box "$two"
says 'nothing says it' 'master: 1 commit, fast-forward'
echo 'git = branch' >"$config"
says 'the configuration' "$branch_line"
like 'an option comes first' "$(hb commit -n --git=ff @s)" '*master: 1 commit, fast-forward*'
check 'a commit goes by the configuration' hb commit -y @s
is 'the configuration: the branch stays' "$(subjects)" one,
is 'the configuration: the commits are on their own' "$(subjects holdback/s)" two,one,
rm "$config"
new_repository
in_box "$two"
like 'a variable' "$(HOLDBACK_GIT=branch hb status @s)" "*$branch_line*"

# What the run was told is kept with the session.
new_repository
hb cleanup -y @s >/dev/null
hb create s --git branch --cow "$project" >/dev/null
in_box "$two"
echo 'git = ff' >"$config"
says 'the session' "$branch_line"
check 'a sync goes by the session' hb sync -y @s
is 'the session: the branch stays' "$(subjects)" one,
rm "$config"

# A file of the workspace may not let a commit do more than the user said.
for word in ff merge files; do
	new_repository
	echo "git = $word" >"$project/.holdback.conf"
	check_exit "a workspace may not say $word" 125 run -s "w-$word" -- true
	rm "$project/.holdback.conf"
done
new_repository
hb cleanup -y @s >/dev/null
echo 'git = branch' >"$project/.holdback.conf"
run -s s -- sh -c "$two"
state=$state/holdback
says 'a workspace may say branch' "$branch_line"
state=${state%/holdback}

echo 'git = rebase' >"$config"
check_exit 'a word that is none' 125 run -- true
rm "$config"
check_exit 'an option that is none' 2 hb commit -y --git=rebase @s
rmdir "$HOME/.config/holdback" "$HOME/.config"
finish
