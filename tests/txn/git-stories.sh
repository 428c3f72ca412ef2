#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 300
#
# A session and its user both work with git: commits arrive as commits.
# shellcheck disable=SC2016 # expanded inside
. "$HB_TESTS/lib/git.sh"

# is_whole WHEN: nothing is missing, nothing is locked, the index can be read.
is_whole() {
	check "$1: the repository is whole" git_in fsck --strict --no-dangling
	check "$1: the index can be read" git_in ls-files -s
	is "$1: no lock is left" "$(find "$project/.git" -name '*.lock')" ''
}

for strategy in overlay copy_on_write; do
	HB_STRATEGY=$strategy
	# 1. The session commits, and git outside only looks.
	new_repository
	in_box "$two"
	touch -d '2001-01-01' "$project/g"
	git_in status >/dev/null
	check "$strategy: a commit beside git status arrives" hb commit -y @s
	is "$strategy: a commit beside git status is on its branch" "$(subjects)" two,one,
	is "$strategy: a commit beside git status leaves a clean tree" "$(git_in status --porcelain)" ''
	is_whole "$strategy: a commit beside git status"
	is "$strategy: nothing is pending then" "$(names)" ''

	# 2. Both commit, each a file.
	new_repository
	in_box "$two"
	(cd "$project" && echo 2 >>g && git commit -qam beside)
	out=$(hb commit -y @s 2>&1)
	is "$strategy: a commit of both sides succeeds" "$?" 0
	like "$strategy: a commit of both sides says where it is" "$out" \
		'*master moved meanwhile: 1 commit is on holdback/s; merge with: git merge holdback/s*'
	is "$strategy: the branch of the user is as it was" "$(subjects)" beside,one,
	is "$strategy: the commits of the session have a branch" "$(subjects holdback/s)" two,one,
	is "$strategy: the work tree is the user's" "$(git_in status --porcelain)" ''
	is_whole "$strategy: a commit of both sides"
	check "$strategy: the merge that is advised succeeds" git_in merge -q --no-edit holdback/s
	is "$strategy: the merge has both files" "$(git_in show HEAD:f HEAD:g | tr '\n' ,)" f,2,g,2,
	check "$strategy: a commit after the merge succeeds" hb commit -y @s
	is "$strategy: nothing is pending after the merge" "$(names)" ''
	is "$strategy: the merge stays" "$(git_in log -1 --format=%s)" "Merge branch 'holdback/s'"
done
unset HB_STRATEGY

# 3. Undo: refs, index and HEAD as they were, objects stay.
new_repository
in_box "$two; git $id tag -a -m t v1; git branch side"
was=$(git_in rev-parse HEAD; git_in ls-files -s; git_in for-each-ref; cat "$project/.git/HEAD")
commit=$(in_box 'git rev-parse HEAD')
check 'a commit with a tag and a branch arrives' hb commit -y @s
is 'the branch, the tag and the other branch are there' \
	"$(git_in for-each-ref --format='%(refname)' | tr '\n' ,)" \
	refs/heads/master,refs/heads/side,refs/tags/v1,
check 'undo of it' hb undo @s
is 'undo puts all references, index and HEAD back' \
	"$(git_in rev-parse HEAD; git_in ls-files -s; git_in for-each-ref; cat "$project/.git/HEAD")" "$was"
check 'undo leaves the objects' git_in cat-file -e "$commit"
is_whole 'undo'
check 'redo of it' hb redo @s
is 'redo brings the commit back' "$(git_in rev-parse HEAD)" "$commit"
is_whole 'redo'
check 'undo once more' hb undo @s
check 'a commit after undo arrives' hb commit -y @s
is 'a commit after undo is on its branch' "$(subjects)" two,one,

# The user has branched off meanwhile: only he knows which commits he wants.
branched() {
	new_repository
	in_box "$two"
	hb commit -y @s >/dev/null 2>&1
	(cd "$project" && eval "$2") >/dev/null 2>&1 || bail "$1"
	was=$(git_in for-each-ref)
	out=$(hb undo @s 2>&1)
	is "undo after $1 is refused" "$?" 5
	like "undo after $1 names it" "$out" "$3"
	is "undo after $1 changes no reference" "$(git_in for-each-ref)" "$was"
	is "undo after $1 changes no file" "$(cat "$project/f")" "$(git_in show HEAD:f)"
	(cd "$project" && eval "$4") >/dev/null 2>&1 || bail "$1: back"
	check "undo is possible once $1 is gone" hb undo @s
	is "undo has taken the branch back after $1" "$(subjects master)" one,
}
branched 'a branch' 'git branch keep' '*.git/refs/heads/keep has commits of the session*' 'git branch -D keep'
branched 'a tag' 'git tag keep' '*.git/refs/tags/keep has commits of the session*' 'git tag -d keep'

# 4. Deleted references, also packed ones.
new_session 'git init -q -b master . && echo f >f && git add f && git commit -qm one &&
	git branch a && git branch dir/b && git branch packed && git pack-refs --all && git branch loose'
in_box 'git branch -q -D a dir/b loose; git branch made/x; git pack-refs --all'
check 'deleted and packed references arrive' hb commit -y --allow git-refs @s
is 'the references are those of the session' "$(git_in for-each-ref --format='%(refname:short)' | tr '\n' ,)" \
	made/x,master,packed,
is_whole 'deleted and packed references'

# 5. Two sessions, each with a commit of another file.
new_repository
hb create t --cow "$project" >/dev/null
in_box "$two"
hb exec @t -- sh -c "echo 2 >>g; git $id commit -qam other"
check 'the first of two sessions arrives' hb commit -y @s
check 'the second of two sessions arrives' hb commit -y @t
is 'the first of two sessions is on the branch' "$(subjects master)" two,one,
is 'the second of two sessions has a branch' "$(subjects holdback/t)" other,one,
check 'both sessions can be merged' git_in merge -q --no-edit holdback/t
is 'the merge has the files of both sessions' "$(git_in show HEAD:f HEAD:g | tr '\n' ,)" f,2,g,2,
is_whole 'two sessions'
hb cleanup -y @t >/dev/null

# 6. The session's version of a repository wins, and takes no commit away.
for path in .git .git/index .git/logs/HEAD; do
	new_repository
	in_box "$two"
	(cd "$project" && echo 2 >>g && git commit -qam beside)
	check "--theirs $path is accepted" hb commit -y --theirs "$path" @s
	is "--theirs $path leaves the commit of the user on its branch" "$(subjects)" beside,one,
	like "--theirs $path leaves the commit of the user in the log" "$(git_in reflog)" '*commit: beside*'
	is "--theirs $path brings the commit of the session" "$(subjects holdback/s)" two,one,
done

# 7. A linked worktree: the text of a diff, and the commits, but no objects.
new_repository
git_in worktree add -q ../tree
cd "$work/tree" || bail 'no worktree'
in_tree() {
	HOME=$work XDG_STATE_HOME=$work/xdg "$HB_BIN" "$@"
}
in_tree run -q -s w -- sh -c "$two" >/dev/null 2>&1
out=$(in_tree diff @w)
like 'the diff of a worktree has the text of its file' "$out" '*+2*'
like 'the diff of a worktree tells its commit' "$out" '*tree: 1 commit (* two)*'
is 'the diff of a worktree has no objects' "$(echo "$out" | grep -c 'objects/\|Binary')" 0
in_tree cleanup -y @w >/dev/null 2>&1
cd "$work" || bail 'no directory'

# SHA-256 names objects with more bytes, also in the index.
new_session 'git init -q -b main --object-format=sha256 . && echo f >f && git add f && git commit -qm one'
in_box "$two"
check 'a commit with SHA-256 arrives' hb commit -y @s
is 'the branch with SHA-256 has it' "$(subjects)" two,one,
is 'the tree with SHA-256 is clean' "$(git_in status --porcelain)" ''
is_whole 'a commit with SHA-256'

# A file in the place of an object that the user is going to make, and no more.
new_session 'git init -q -b main . && echo f >f && git add f && git commit -qm one'
in_box 'id=$(echo precious | git hash-object --stdin); d=.git/objects/$(echo "$id" | cut -c 1-2); mkdir -p "$d"
	e=$(echo evil | git hash-object -w --stdin)
	cp ".git/objects/$(echo "$e" | cut -c 1-2)/$(echo "$e" | cut -c 3-)" "$d/$(echo "$id" | cut -c 3-)"'
check_exit 'an object with another content than its name is refused' 5 hb commit -y @s
(cd "$project" && echo precious >p && git add p)
is 'the content of the user is kept' "$(git_in cat-file -p :p)" precious
finish
