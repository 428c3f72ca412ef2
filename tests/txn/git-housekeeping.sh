#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 300
#
# Garbage collection and worktrees on either side: nobody loses an object by
# them, and nothing of them is a conflict.
# shellcheck disable=SC2016 # expanded inside
. "$HB_TESTS/lib/git.sh"

is_whole() {
	check "$1: the repository is whole" git_in fsck --strict --no-dangling
}

# The number after $2 whose blob lies in the directory $1 of objects.
number_in() {
	number=$2
	while :; do
		number=$((number + 1))
		case $(echo "c$number" | git hash-object --stdin) in
		"$1"*) break ;;
		esac
	done
	echo "$number"
}

for strategy in overlay copy_on_write; do
	HB_STRATEGY=$strategy
	# The session packs, and the user has a new object where packed ones were.
	new_repository
	two_digits=$(git_in rev-parse 'HEAD^{tree}' | cut -c 1-2)
	mine=$(number_in "$two_digits" 0)
	in_box 'git gc -q'
	(cd "$project" && echo "c$mine" >new && git add new && git commit -qm mine)
	check "$strategy: a session that packed is committed" hb commit -y --no-gate @s
	is_whole "$strategy: objects of the user beside those that the session packed"
	is "$strategy: the file of the user is there" "$(git_in cat-file -p HEAD:new)" "c$mine"
	check "$strategy: undo of it" hb undo @s
	is_whole "$strategy: undo of a session that packed"

	# The same, and the session has a new object there as well.
	new_repository
	theirs=$(number_in "$two_digits" "$mine")
	in_box "git gc -q; echo c$theirs >s; git add s; git $id commit -qm theirs"
	(cd "$project" && echo "c$mine" >new && git add new && git commit -qm mine)
	check "$strategy: a session that packed and went on is committed" hb commit -y --no-gate @s
	is_whole "$strategy: new objects of both sides where packed ones were"
	is "$strategy: the files of both sides are there" \
		"$(git_in cat-file -p HEAD:new; git_in cat-file -p holdback/s:s)" "c$mine
c$theirs"

	# The user packs, and the session has new objects where packed ones were.
	new_repository
	in_box "echo c$mine >s; git add s; git $id commit -qm theirs"
	git_in gc -q
	check "$strategy: a commit after the user packed arrives" hb commit -y --no-gate @s
	is "$strategy: a commit after the user packed is on its branch" "$(subjects)" theirs,one,
	is_whole "$strategy: a commit after the user packed"
	in_box "echo c$theirs >s; git $id commit -qam again"
	git_in gc -q
	check "$strategy: a second commit after the user packed arrives" hb commit -y --no-gate @s
	is_whole "$strategy: a second commit after the user packed"

	# The user packs references, and the session has an older packed-refs.
	new_session 'git init -q -b master . && echo f >f && git add f && git commit -qm one &&
		git branch a && git branch b && git tag t && git branch gone'
	in_box 'git branch -q -D gone'
	git_in gc -q
	check "$strategy: a deleted branch arrives after the user packed references" \
		hb commit -y --no-gate @s
	is "$strategy: only the deleted branch is gone" \
		"$(git_in for-each-ref --format='%(refname:short)' | tr '\n' ,)" a,b,master,t,

	# A worktree that the session made.
	new_repository
	in_box "git worktree add -q -b side tree; cd tree; echo 2 >>f; git $id commit -qam two"
	check "$strategy: a session with a new worktree is committed" hb commit -y --no-gate @s
	is "$strategy: the worktree is known" "$(git_in worktree list | grep -c side)" 1
	is "$strategy: the worktree is on its branch" "$(git -C "$project/tree" log --format=%s | tr '\n' ,)" two,one,
	is_whole "$strategy: a new worktree"
	is "$strategy: nothing is pending after a new worktree" "$(names)" ''
	is "$strategy: the worktree is clean" "$(git -C "$project/tree" status --porcelain)" ''
done
unset HB_STRATEGY

# Both sides pack: git lists its references for servers, on both.
new_repository
in_box "$two; git gc -q"
git_in gc -q
check 'packing on both sides is no conflict' hb commit -y --no-gate @s
is 'a commit beside packing is on its branch' "$(subjects)" two,one,
is_whole 'packing on both sides'

# A stash without its log is no list, and the one of the user stays.
new_repository
(cd "$project" && echo 1 >>g && git stash -q)
in_box 'git reflog expire --expire=now --all'
(cd "$project" && echo 2 >>g && git stash -q)
was=$(git_in stash list --format=%H)
check 'a session that emptied the log of stashes is committed' hb commit -y --no-gate @s
is 'the stashes of the user stay' "$(git_in stash list --format=%H)" "$was"
new_repository
in_box "echo 1 >>f; git $id stash -q"
(cd "$project" && echo 1 >>g && git stash -q && git reflog expire --expire=now --all)
was=$(git_in rev-parse refs/stash)
out=$(hb commit -y --no-gate @s 2>&1)
is 'a stash beside one without a log is no failure' "$?" 0
like 'a stash beside one without a log is told' "$out" '*refs/stash has no log of its own: it stays pending*'
is 'the stash without a log is that of the user' "$(git_in rev-parse refs/stash)" "$was"

# Tags with a message have a name on both sides, and other words.
new_repository
in_box "git $id tag -a -m theirs v1"
(cd "$project" && git tag -a -m mine v1)
mine=$(git_in rev-parse v1)
theirs=$(in_box 'git rev-parse v1')
check 'a tag that both sides made is no failure' hb commit -y --no-gate @s
is 'the tag of the user stays' "$(git_in rev-parse v1)" "$mine"
is 'the tag of the session has another name' "$(git_in for-each-ref --format='%(objectname)' refs/tags/holdback)" "$theirs"

# The user has a directory where a commit of the session has a file.
new_session 'git init -q -b master . && mkdir d && echo f >d/f && git add d && git commit -qm one'
in_box "echo 2 >>d/f; git $id commit -qam two"
(cd "$project" && rm d/f && mkdir d/f && echo mine >d/f/in && git add -A && git commit -qm mine)
check 'a directory in the place of a file is no conflict with a branch' hb commit -y --no-gate @s
is 'the directory of the user stays' "$(cat "$project/d/f/in")" mine

# Entries that the user staged are there after undo and another commit.
new_repository
in_box "$two"
(cd "$project" && echo u >u && git add u)
hb commit -y --no-gate @s >/dev/null 2>&1
check 'undo beside a staged file' hb undo @s
check 'a commit after undo beside a staged file' hb commit -y --no-gate @s
is 'the staged file is the only change' "$(git_in status --porcelain)" 'A  u'

# The repository waits, and so does a worktree of it: half of one is damage.
new_repository
in_box 'git worktree add -q -b side tree; echo s >>f; git add f'
(cd "$project" && echo u >>f && git add f)
out=$(hb commit -y --no-gate --theirs f @s 2>&1)
is 'a session whose index waits is committed' "$?" 0
like 'a session whose index waits says so' "$out" '*changed in the index on both sides*'
is 'a worktree waits with its repository' "$(ls "$project/.git/worktrees" 2>/dev/null)" ''
is_whole 'a worktree that waits'
git_in reset -q
check 'the worktree comes with the index' hb commit -y --no-gate --theirs f @s
is 'the worktree that waited is known' "$(git_in worktree list | grep -c side)" 1
is_whole 'a worktree that has waited'

# The user removes a worktree in which the session has been.
for what in "git reflog expire --expire=now --all; $two" "cd tree; echo 2 >>f; git $id commit -qam three; cd ..; $two"; do
	new_repository
	git_in worktree add -q -b side tree
	hb cleanup -y @s >/dev/null
	hb create s --cow "$project" >/dev/null
	in_box "$what"
	git_in worktree remove -f tree
	out=$(hb commit -y --no-gate --ours tree --ours 'tree/*' @s 2>&1)
	is 'a worktree that the user removed is no conflict' "$?" 0
	is 'commits beside a removed worktree arrive' "$(subjects)" two,one,
	is 'the branch of a removed worktree has its commits' "$(subjects side)" \
		"$(in_box 'git log --format=%s side' | tr '\n' ,)"
	is 'the worktree stays removed' "$(ls "$project/.git/worktrees" 2>/dev/null)" ''
	is_whole 'a removed worktree'
done
like 'the rest of a removed worktree is told' "$out" '*removed meanwhile*pending*'

# A commit that was taken back leaves a directory with its old time and a new change time.
new_repository
in_box "$two"
touch -d 2020-01-01 "$project/.git/objects"
check 'a new change time of the objects is no conflict with new ones' hb commit -y --no-gate @s
is 'the commit of the session has its objects' "$(git_in log -1 --format=%s)" two
is_whole 'objects below a directory with a new change time'
finish
