#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 300
#
# --git=merge: where both sides committed, git merges in a box, and the result is
# committed as any other change.  A merge that is not clean changes nothing.
. "$HB_TESTS/lib/git.sh"

# beside FILE...: the user commits to each of them.
beside() {
	(
		cd "$project" || exit
		for file; do echo user >>"$file"; done
		git add "$@" && git commit -qm beside
	)
}
# state: everything that a commit may change, and that undo brings back.
state() {
	git_in for-each-ref
	git_in symbolic-ref -q HEAD
	git_in ls-files -s
	git_in status --porcelain
	(cd "$project" && find . -path ./.git -prune -o -type f -exec sha1sum {} + | sort -k 2)
}
# clone_merges CASE: as `git merge` in a fresh clone would have it, by tree.
clone_merges() {
	rm -rf "$work/clone"
	git clone -q --no-hardlinks "$project" "$work/clone" 2>/dev/null
	(cd "$work/clone" && git checkout -q -B master "$(git_in rev-parse HEAD^1)" &&
		git merge -q --no-edit "$(git_in rev-parse HEAD^2)" >/dev/null)
	is "$1: the tree is that of git merge in a clone" "$(git_in rev-parse 'HEAD^{tree}')" \
		"$(git -C "$work/clone" rev-parse 'HEAD^{tree}')"
	rm -rf "$work/clone"
}

# Both commit, to different files.
new_repository
in_box "$two; echo new >new; git add new; git $id commit -qm three"
beside g
line='the branch moved meanwhile: 2 commits are going to be merged, if git can do that'
like 'said before: status' "$(HOLDBACK_GIT=merge hb status @s)" "*$line*"
like 'said before: diff' "$(HOLDBACK_GIT=merge hb diff @s)" "*$line*"
before=$(state)
like 'a dry run merges, and changes nothing' "$(hb commit -n --git=merge @s)" '*2 commits are merged in *'
is 'a dry run changes nothing' "$(state)" "$before"
out=$(hb commit -y --git=merge @s 2>&1)
is 'both committed: a commit' "$?" 0
like 'both committed: said' "$out" '*2 commits are merged in *'
is 'both committed: all commits are there' "$(git_in log --format=%s | sort | tr '\n' ,)" \
	"Merge branch 'holdback/s',beside,one,three,two,"
is 'both committed: files' "$(cat "$project/f" "$project/g" "$project/new" | tr '\n' ,)" f,2,g,user,new,
is 'both committed: git sees no difference' "$(git_in status --porcelain)" ''
is 'both committed: no branch is left' "$(git_in for-each-ref --format='%(refname)')" refs/heads/master
is 'both committed: the identity' "$(git_in log -1 --format='%an %ae %cn %ce')" 'n e n e'
check 'both committed: whole' git_in fsck --strict
clone_merges 'both committed'
is 'both committed: nothing is pending' "$(names)" ''
is 'both committed: no session is left aside' "$(hb ls | grep -c merge-)" 0
check 'an undo' hb undo @s
is 'undo brings everything back' "$(state)" "$before"
like 'undo: pending again' "$(names)" '*M f,*A new,*'
check 'a redo' hb redo @s
is 'redo: files' "$(cat "$project/f" "$project/g" | tr '\n' ,)" f,2,g,user,

# lines FILE: ten lines, committed by the user before a session begins.
ten_lines() {
	new_session "git init -q -b master . && seq 10 >f && echo g >g && mkdir d && echo a >d/a && echo b >d/b &&
		git add . && git commit -qm one"
}
# merges CASE: a commit whose result is that of git.
merges() {
	out=$(hb commit -y --git=merge @s 2>&1)
	is "$1: a commit" "$?" 0
	clone_merges "$1"
	is "$1: git sees no difference" "$(git_in status --porcelain)" ''
	check "$1: whole" git_in fsck --strict
	is "$1: nothing is pending" "$(names)" ''
	merged=$(state)
	check "$1: undo" hb undo @s
	is "$1: undo is exact" "$(state)" "$before"
	check "$1: redo" hb redo @s
	is "$1: redo is exact" "$(state)" "$merged"
}
# refuses CASE WORDS: 5, and nothing changed anywhere.
refuses() {
	before=$(state)
	pending=$(hb status @s)
	out=$(hb commit -y --git=merge @s 2>&1)
	is "$1: the exit status" "$?" 5
	like "$1: says why" "$out" "$2"
	is "$1: nothing is changed" "$(state)" "$before"
	is "$1: the session is as it was" "$(hb status @s)" "$pending"
	is "$1: no session is left" "$(hb ls | wc -l)" 1
}

ten_lines
in_box "sed -i s/^2/two/ f; git $id commit -qam two"
(cd "$project" && sed -i s/^9/nine/ f && git commit -qam nine)
before=$(state)
merges 'the same file, other lines'
is 'the same file, other lines: both edits are there' "$(grep -c 'two\|nine' "$project/f")" 2

ten_lines
in_box "sed -i s/^2/two/ f; echo 2 >>g; git $id commit -qam two"
(cd "$project" && sed -i s/^2/zwei/ f && git commit -qam zwei)
refuses 'the same line' '*both sides changed the same lines: f*fix: --git=branch, and then git merge holdback/s*'
check 'the same line: the fix' hb commit -y --git=branch @s

new_repository
in_box "$two"
beside g
(cd "$project" && echo mine >>f)
refuses 'an edit of the user that is in the way' '*not committed are in the way of the merge: f*'
new_repository
(cd "$project" && echo h >h && git add h && git commit -qm h)
in_box "$two"
beside g
(cd "$project" && echo mine >>h && echo x >untracked)
before=$(state)
check 'an edit of the user beside the merge' hb commit -y --git=merge @s
is 'an edit of the user beside the merge stays' "$(git_in status --porcelain | tr '\n' ,)" ' M h,?? untracked,'
check 'an edit of the user beside the merge: undo' hb undo @s
is 'an edit of the user beside the merge: undo is exact' "$(state)" "$before"

# Renames, modes, links and directories on both sides.
ten_lines
in_box "sed -i s/^2/two/ f; chmod +x g; ln -s g l; git rm -q d/a; git add l; git $id commit -qam changes"
(cd "$project" && git mv f renamed && echo user >d/c && git add d/c && git commit -qm renamed)
before=$(state)
merges 'the user renamed a file'
is 'the user renamed a file: the edit is there' "$(grep -c two "$project/renamed")" 1
check 'a mode and a link are merged' test -x "$project/g" -a -L "$project/l"
ten_lines
in_box "echo 2 >>d/a; git $id commit -qam two"
(cd "$project" && git mv d e && git commit -qm moved)
before=$(state)
merges 'the user renamed a directory'
is 'the user renamed a directory: files' "$(ls "$project/e" | tr '\n' ,)" a,b,
ten_lines
in_box "git rm -qr d; git $id commit -qm removed"
(cd "$project" && echo c >d/c && git add d/c && git commit -qm added)
before=$(state)
merges 'the session removed a directory, the user added to it'
is 'a file that the user added stays' "$(ls "$project/d")" c
ten_lines
in_box "mkdir moved; git mv d/a d/b moved; git $id commit -qm moved"
(cd "$project" && echo 2 >>d/a && git commit -qam edit)
before=$(state)
merges 'the session renamed a directory, the user edited in it'
is 'the edit of the user went along' "$(tr '\n' , <"$project/moved/a")" a,2,

# What the session did not commit.
new_repository
in_box "$two; echo x >x; echo 2 >>g"
(cd "$project" && echo h >h && git add h && git commit -qm h)
check 'changes that are in no commit come along' hb commit -y --git=merge @s
is 'changes that are in no commit are changes of the tree' "$(git_in status --porcelain | tr '\n' ,)" ' M g,?? x,'
new_repository
in_box "$two; echo 3 >>f"
beside g
(cd "$project" && sed -i s/f/F/ f && git commit -qam F)
refuses 'changes on top of a commit, in conflict' '*both sides changed the same lines: f*'
ten_lines
in_box "sed -i s/^2/two/ f; git $id commit -qam two; sed -i s/^3/three/ f"
(cd "$project" && sed -i s/^9/nine/ f && git commit -qam nine)
refuses 'changes on top of a commit' '*changes that it did not commit at a path of the merge: f*'
new_repository
(cd "$project" && echo '*.o' >.gitignore && git add .gitignore && git commit -qm ignore)
hb cleanup -y @s >/dev/null
hb create s --cow "$project" >/dev/null
in_box "$two; echo o >x.o"
beside g
check 'with ignored files' hb commit -y --git=merge @s
is 'ignored files stay pending' "$(hb status --ignored @s | grep -c x.o)" 1

# The session is on a branch of its own, or has marks.
new_repository
in_box "git checkout -q -b side; $two"
beside g
check 'a branch of the session: a commit' hb commit -y --git=merge @s
is 'a branch of the session is merged' "$(tr '\n' , <"$project/f")" f,2,
is 'a branch of the session: HEAD stays' "$(git_in symbolic-ref HEAD)" refs/heads/master
is 'a branch of the session is there' "$(git_in for-each-ref --format='%(refname:short)' | tr '\n' ,)" master,side,
new_repository
in_box "$two"
hb mark @s m >/dev/null
in_box "echo 3 >>f; git $id commit -qam three"
beside g
before=$(state)
merges 'a session with a mark'

# Nothing that the repository names has an effect outside.  Of a merge driver, that is its
# result alone.
new_session "git init -q -b master . && seq 10 >f && echo '* merge=mine filter=note' >.gitattributes &&
	git add . && git commit -qm one && git config merge.mine.driver 'echo >$HOME/driver; echo >stray; echo merged >%A' &&
	git config filter.note.smudge 'echo >$HOME/filter; cat' && git config core.fsmonitor 'echo >$HOME/fsmonitor; false' &&
	printf '#!/bin/sh\\necho >stray2; echo >$HOME/hook\\n' >.git/hooks/post-merge && chmod +x .git/hooks/post-merge &&
	cp .git/hooks/post-merge .git/hooks/post-checkout"
in_box "sed -i s/^2/two/ f; git $id -c core.fsmonitor=false commit -qam two"
(cd "$project" && sed -i s/^9/nine/ f && git -c core.fsmonitor=false commit -qam nine)
rm -f "$HOME/driver" "$HOME/filter" "$HOME/fsmonitor" "$HOME/hook"
check 'programs of the repository: a commit' hb commit -y --git=merge @s
is 'programs of the repository: no effect outside' "$(find "$HOME" -name driver -o -name filter -o -name fsmonitor -o -name hook)" ''
is 'programs of the repository: no file of theirs' "$(ls "$project")" f
is 'programs of the repository: the result of a merge driver' "$(cat "$project/f")" merged
# A session with the network merges without it.
new_session "git init -q -b master . && seq 10 >f && echo '* merge=mine' >.gitattributes && git add . &&
	git commit -qm one && git config merge.mine.driver 'readlink /proc/self/ns/net >%A'"
hb cleanup -y @s >/dev/null
hb create s --net host --cow "$project" >/dev/null
in_box "sed -i s/^2/two/ f; git $id commit -qam two"
is 'a session with the network has it' "$(in_box 'readlink /proc/self/ns/net' 2>/dev/null)" "$(readlink /proc/self/ns/net)"
(cd "$project" && sed -i s/^9/nine/ f && git commit -qam nine)
check 'a session with the network: a commit' hb commit -y --git=merge @s
like 'a merge has a network namespace' "$(cat "$project/f")" 'net:*'
unlike 'a merge has no network' "$(cat "$project/f")" "$(readlink /proc/self/ns/net)"
# The session's own configuration counts for nothing.
new_repository
in_box "$two; git config core.hooksPath hooks; git config core.fsmonitor 'touch ran'; mkdir hooks;
	echo 'touch ran' >hooks/post-merge; chmod +x hooks/post-merge"
beside g
check 'the configuration of the session: a commit' hb commit -y --no-gate --except '.git/config' --git=merge @s
check_fails 'the configuration of the session: nothing ran' test -e "$project/ran"

for command in sync commit; do
	new_repository
	in_box "$two"
	check "$command --git=merge where it is forward" hb $command -y --git=merge @s
	is "$command --git=merge where it is forward: no merge" "$(subjects)" two,one,
done
new_repository
in_box "$two"
beside g
check 'sync --git=merge' hb sync -y --git=merge @s
is 'sync --git=merge: both sides' "$(git_in log --format=%s -1)" "Merge branch 'holdback/s'"

# A merge of the user's is under way.
new_repository
(cd "$project" && git checkout -q -b other && echo o >>g && git commit -qam other && git checkout -q master)
in_box "$two"
beside g
(cd "$project" && git merge -q other >/dev/null 2>&1)
check 'a merge of the user is under way: a commit' hb commit -y --git=merge @s
is 'a merge of the user is under way: the commits are on a branch' "$(subjects holdback/s)" two,one,

# The gate is asked about a path that the merge alone has.
new_session "git init -q -b master . && mkdir -p docs && seq 10 >docs/ci.yml && git add . && git commit -qm one"
in_box "sed -i s/^2/two/ docs/ci.yml; git $id commit -qam two"
(cd "$project" && mkdir -p .github/workflows && git mv docs/ci.yml .github/workflows/ci.yml && git commit -qm moved)
before=$(state)
check_exit 'a path of the merge alone: the gate' 4 hb commit -y --git=merge @s
is 'a path of the merge alone: nothing is changed' "$(state)" "$before"
check 'a path of the merge alone can be allowed' hb commit -y --git=merge --allow ci @s

# The text that git makes of both sides is another than the session's.
new_session "git init -q -b master . && printf '%s\n' '{' '\"notes\": {' '\"a\": 1,' '\"b\": 2,' '\"c\": 3,' '\"d\": 4' '}' '}' \
	>package.json && git add . && git commit -qm one"
in_box "sed -i 's/.*\"d\".*/\"postinstall\": \"x\",\n&/' package.json; git $id commit -qam two"
(cd "$project" && sed -i s/notes/scripts/ package.json && git commit -qam scripts)
before=$(state)
check_exit 'a text of both sides: the gate' 4 hb commit -y --git=merge @s
is 'a text of both sides: nothing is changed' "$(state)" "$before"

# Ignored files are in no commit, and git merge takes them for worthless.
ignoring() {
	new_session "git init -q -b master . && echo f >f && echo g >g && printf '%s\n' '*.o' build/ >.gitignore &&
		mkdir d && echo a >d/a && git add . && git commit -qm one && mkdir build && echo mine >build/x && echo mine >x.o"
}
# entry PATH...: words that commit a file there, without one in the work tree.
entry() {
	echo "b=\$(echo agent | git hash-object -w --stdin)"
	for path; do echo "git update-index --add --cacheinfo 100644,\$b,$path"; done
	echo "git $id commit -qm entry"
}
way='*in no commit of yours is in the way of the merge:'
ignoring
in_box "$(entry x.o)"
beside g
refuses 'an ignored file' "$way x.o*"
ignoring
in_box "$(entry build)"
beside g
refuses 'an ignored directory' "$way build*"
ignoring
in_box "git rm -q --cached d/a; $(entry d)"
beside g
echo mine >"$project/d/y.o"
refuses 'an ignored file in a directory' "$way d/y.o*"
ignoring
in_box "echo agent >z.o; git add -f z.o; git $id commit -qm z"
beside g
echo mine >"$project/z.o"
refuses 'an ignored file of both sides' "*left out, but in the session's commits: z.o*"
out=$(hb commit -y --ignored --git=merge @s 2>&1)
is 'an ignored file of both sides, taken along: the exit status' "$?" 5
is 'an ignored file of both sides, taken along: it stays' "$(cat "$project/z.o")" mine

# The user is elsewhere, and git merge only moves forward, over many commits.
new_repository
in_box "$two; echo new >new; git add new; git $id commit -qm three; echo 4 >>g; git $id commit -qam four"
git_in checkout -q -b other
before=$(state)
check 'many commits forward: a commit' hb commit -y --git=merge @s
is 'many commits forward: all are there' "$(git_in log --format=%s | tr '\n' ,)" four,three,two,one,
is 'many commits forward: files' "$(cat "$project/f" "$project/g" "$project/new" | tr '\n' ,)" f,2,g,4,new,
is 'many commits forward: git sees no difference' "$(git_in status --porcelain)" ''
check 'many commits forward: undo' hb undo @s
is 'many commits forward: undo is exact' "$(state)" "$before"

# A linked worktree; its repository is another directory.
new_repository
git_in worktree add -q -b linked "$work/linked" 2>/dev/null
in_linked() {
	(cd "$work/linked" && XDG_STATE_HOME=$state "$HB_BIN" "$@")
}
in_linked run -q -s w -- sh -c "$two" 2>/dev/null
(cd "$work/linked" && echo user >>g && git commit -qam beside)
check 'a linked worktree: a commit' in_linked commit -y --git=merge @w
is 'a linked worktree: both sides' "$(git -C "$work/linked" log --format=%s | sort | tr '\n' ,)" \
	"Merge branch 'holdback/w' into linked,beside,one,two,"
is 'a linked worktree: git sees no difference' "$(git -C "$work/linked" status --porcelain)" ''
is 'a linked worktree: the other branch stays' "$(subjects)" one,
check 'a linked worktree: undo' in_linked undo @w
is 'a linked worktree: undo is exact' "$(git -C "$work/linked" log --format=%s | tr '\n' ,)" beside,one,
is 'a linked worktree: undo of the files' "$(git -C "$work/linked" status --porcelain)" ''
git_in worktree remove --force "$work/linked"

# A submodule that the session moves.
new_session "git init -q -b master . && echo f >f && git init -q -b master sub && git -C sub commit -q --allow-empty -m s1 &&
	git -c protocol.file.allow=always submodule --quiet add ./sub sub 2>/dev/null; git add . && git commit -qm one"
in_box "git -C sub $id commit -q --allow-empty -m s2 && git add sub && git $id commit -qm bump"
(cd "$project" && echo user >>f && git commit -qam beside)
check 'a submodule: a commit' hb commit -y --git=merge @s
is 'a submodule: the entry is merged' "$(git_in ls-files -s sub | cut -d ' ' -f 2)" \
	"$(git_in rev-parse 'HEAD^2:sub')"
check 'a submodule: whole' git_in fsck --strict

new_session "git init -q -b $branch . && mkdir d && seq 10 >d/a && echo f >f && git add . && git commit -qm one"
in_box "git $id rm -q d/a; echo file >d; git add d; git $id commit -qm two"
(cd "$project" && echo u >>f && git commit -qam user && echo user >>d/a && git add d/a)
check_exit 'a staged edit below a directory that becomes a file' 5 hb commit -y --git=merge @s
is 'a staged edit below a directory that becomes a file: it is there' "$(tail -n 1 "$project/d/a")" user
finish
