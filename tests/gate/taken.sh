#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
#
# What is taken away is asked about: hooks, what keeps scripts from running,
# what git ignores, branches and objects, the rights on what git obeys.  What
# git does by itself is not.
. "$HB_TESTS/lib/txn.sh"

git_words='-c user.name=n -c user.email=e -c core.hooksPath=/dev/null -c gc.auto=0'

# found: severity, path and rule of what is not a warning.
found() {
	hb gate @s 2>&1 | sed -n 's/^\(ask\|deny\): \([^ ]*\): .* \[\([a-z-]*\)\]$/\1 \2 \3/p' |
		tr '\n' ','
}
# says SCRIPT WANTED NAME: the gate, after the script in the box.
says() {
	in_box "$1" >/dev/null 2>&1
	is "$3" "$(found)" "$2"
	hb rollback -y @s >/dev/null
}

new_session "git init -q -b main . && echo x >f && git add f &&
	git $git_words commit -qm first && git branch loose && git tag v1 &&
	git branch packed && git pack-refs --all && git branch -f loose && git branch one &&
	echo ignore-scripts=true >.npmrc && printf '# c\nsecret\n' >.gitignore &&
	mkdir sub && echo y >sub/.gitignore && echo z >sub/z &&
	mkdir -p .git/worktrees/w .husky && echo x >.git/worktrees/w/gitdir &&
	: >.git/worktrees/w/locked &&
	echo x >.husky/pre-commit && : >.holdback.rules &&
	echo x >.git/hooks/pre-push && chmod 755 .git/hooks/pre-push &&
	chmod 700 .git/hooks && chmod 600 .git/config"

says 'rm .git/hooks/pre-push' 'ask .git/hooks/pre-push git-hook,' 'a hook that is gone asks'
says 'rm .npmrc' 'ask .npmrc package-config,' 'an .npmrc that is gone asks'
says 'rm .git/worktrees/w/gitdir' 'ask .git/worktrees/w/gitdir git-worktree,' \
	'a worktree that is none any more asks'
says 'mkdir .git/worktrees/v; echo x >.git/worktrees/v/gitdir' \
	'ask .git/worktrees/v/gitdir git-link,' 'a new worktree asks as a link'
says 'rm .husky/pre-commit' 'ask .husky/pre-commit hook-manager,' \
	"a hook manager's hook that is gone asks"
says 'rm .holdback.rules' 'ask .holdback.rules holdback,' \
	"a rule file of holdback that is gone asks"
says 'rm .gitignore' 'ask .gitignore ignored-gone,' 'a .gitignore that is gone asks'
says 'echo "# nothing" >.gitignore' 'ask .gitignore ignored-gone,' \
	'so does one that ignores nothing any more'
says 'printf "# c\nsecre\n" >.gitignore' '' 'another .gitignore does not'
says 'rm -r sub' '' 'nor does one that goes with its directory'
says 'git branch -D one' 'ask .git/refs/heads/one git-refs,' 'a branch that is gone asks'
says 'rm -r .git/refs; mkdir -p .git/refs/heads' \
	'ask .git/refs/heads/one git-refs,' 'one that is packed as well is there still'
says 'git branch -D packed' 'ask .git/packed-refs git-refs,' 'a packed branch that is gone asks'
says 'git tag -d v1' 'ask .git/packed-refs git-refs,' 'so does a tag'
says 'rm .git/packed-refs' 'ask .git/packed-refs git-refs,' 'and so do all of them'
says 'git pack-refs --all' '' 'git packs its branches without a question'
says 'git gc -q' '' 'and its objects'
says 'rm -rf .git/objects/??' 'ask . git-objects,' 'objects that are gone ask'
says 'chmod 777 .git/hooks' 'ask .git/hooks writable,' \
	'a directory of hooks that all may write asks'
says 'chmod 666 .git/config' 'ask .git/config writable,' 'so does a configuration'
says 'chmod 755 .git/hooks; chmod 644 .git/config; chmod 777 f' '' 'other rights do not'
says "git checkout -qb next && echo y >>f && git $git_words commit -qam second" '' \
	'work in a branch asks nothing'
hb cleanup -y @s >/dev/null
finish
