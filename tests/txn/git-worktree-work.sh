#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 300
#
# The commit that is made of a session's work, on a branch of its own: what it has
# is what the session has, byte for byte, also where that equals the base, where a
# filter rewrites it, and where the session no longer tracks it.  Files of the user
# that the session did not see are never replaced.
. "$HB_TESTS/lib/git.sh"

repository="git init -q -b master . && seq 10 >f && echo g >g && echo '*.log' >.gitignore && mkdir d &&
	echo a >d/a && echo key >secrets.env && git add . && git commit -qm one"
begin() {
	new_session "$1"
	hb cleanup -y @s >/dev/null || exit
	shift
	hb create s --cow "$project" --strategy git_worktree "$@" >"$work/created" 2>&1 || sed 's/^/# /' "$work/created"
}
state() {
	git_in for-each-ref
	git_in symbolic-ref -q HEAD
	git_in ls-files -s
	git_in --no-optional-locks status --porcelain
	(cd "$project" && find . -path ./.git -prune -o -type f -exec sha1sum {} + | sort -k 2)
}
# refuses CASE WORDS [OPTION...]: 5 with the path, and nothing changes anywhere.
refuses() {
	case=$1 words=$2
	shift 2
	before=$(state)
	pending=$(names)
	out=$(hb commit -y "$@" @s 2>&1)
	is "$case: the exit status" "$?" 5
	like "$case: says why" "$out" "$words"
	is "$case: nothing is changed" "$(state)" "$before"
	is "$case: the session is as it was" "$(names)" "$pending"
}
# merges CASE [OPTION...]: a commit, whole, and undo is exact.
merges() {
	case=$1
	shift
	before=$(state)
	out=$(hb commit -y --no-gate "$@" @s 2>&1) || echo "$out" | sed 's/^/# /'
	check "$case: whole" git_in fsck --strict
	is "$case: nothing is pending" "$(names)" ''
	after=$(state)
	check "$case: undo" hb undo @s
	is "$case: undo is exact" "$(state)" "$before"
	check "$case: redo" hb redo @s
	is "$case: redo is exact" "$(state)" "$after"
}
commit="git $id commit -qam work"

# A clean filter, as that of notebooks: it leaves lines out of the commit.
notebook="$repository && echo '*.nb filter=nb' >.gitattributes && git config filter.nb.clean 'grep -v ^out' &&
	git config filter.nb.smudge cat && seq 9 >n.nb && git add . && git commit -qm nb"
begin "$notebook"
in_box 'echo code >>n.nb; echo out >>n.nb'
refuses 'a clean filter' '*filter*n.nb*fix: holdback exec @s -- git commit*'
in_box "$commit"
mine=$(in_box 'cat n.nb')
merges 'a clean filter, committed in the session'
is 'a clean filter: the file is that of the session' "$(cat "$project/n.nb")" "$mine"
is 'a clean filter: the commit has the filtered one' "$(git_in show HEAD:n.nb | tail -n 1)" code
is 'a clean filter: git sees no difference' "$(git_in status --porcelain)" ''
begin "$notebook"
in_box 'echo out >>n.nb'
mine=$(in_box 'cat n.nb')
merges 'work that a filter takes for none'
is 'work that a filter takes for none arrives' "$(cat "$project/n.nb")" "$mine"
begin "$notebook"
in_box "echo code >>n.nb; echo out >>n.nb; $commit"
(cd "$project" && sed -i s/^1/one/ n.nb && git commit -qam one)
refuses 'a filter where both sides changed' '*filter*n.nb*'

# As that of LFS: the commit has a pointer, and the content lies elsewhere.
begin "$repository && echo '*.bin filter=l' >.gitattributes &&
	git config filter.l.clean 'mkdir -p .git/l && t=\$(mktemp) && cat >\$t && sum=\$(sha1sum <\$t | cut -c1-40) && { [ -e .git/l/\$sum ] || cp \$t .git/l/\$sum; } && rm \$t && echo pointer \$sum' &&
	git config filter.l.smudge 'if [ -n \"\$GIT_LFS_SKIP_SMUDGE\" ]; then cat; else read -r p sum; cat .git/l/\$sum; fi' && git config filter.l.required true && git add . && git commit -qm lfs"
in_box 'echo content >x.bin'
refuses 'content that lies elsewhere' '*filter*x.bin*'
in_box "git add x.bin; $commit"
merges 'content that lies elsewhere, committed in the session'
is 'content that lies elsewhere: the file' "$(cat "$project/x.bin")" content
like 'content that lies elsewhere: the commit' "$(git_in show HEAD:x.bin)" 'pointer *'
check 'content that lies elsewhere is there' test -e "$project/.git/l/$(git_in show HEAD:x.bin | cut -d' ' -f2)"
is 'content that lies elsewhere: git sees no difference' "$(git_in status --porcelain)" ''

# Ends of lines are of git itself.
begin "$repository && echo '*.bat text eol=crlf' >.gitattributes && printf 'a\r\n' >x.bat && git add . && git commit -qm bat"
in_box "printf 'b\r\n' >>x.bat; $commit"
merges 'ends of lines'
is 'ends of lines are those of the session' "$(od -c "$project/x.bat" | head -n 1)" "$(printf 'a\r\nb\r\n' | od -c | head -n 1)"

# Work that equals the base.
begin "$repository"
in_box "echo n >n; git add n; $commit; rm n"
merges 'a file that was committed and removed'
check 'a file that was committed and removed is not brought' test ! -e "$project/n"
begin "$repository"
in_box "echo 2 >>g; $commit; git checkout -q HEAD^ -- g; echo new >new"
merges 'an edit that was committed and taken back'
is 'an edit that was committed and taken back' "$(cat "$project/g")" g
is 'an edit that was taken back: git sees no difference' "$(git_in status --porcelain)" ''
begin "$repository && echo edit >>g"
in_box "echo 2 >>g; $commit; git checkout -q HEAD^ -- g; echo new >new"
merges 'an edit that was taken back, where the user has one'
is 'an edit that was taken back: that of the user stays' "$(git_in status --porcelain; cat "$project/g" | tr '\n' ,)" ' M g
g,edit,'
begin "$repository"
in_box "git rm -q --cached secrets.env; git $id commit -qm untrack; echo 2 >>g"
merges 'a file that is not tracked any more'
is 'a file that is not tracked any more is there' "$(cat "$project/secrets.env")" key
is 'a file that is not tracked any more is in no commit' "$(git_in ls-files secrets.env; git_in status --porcelain)" '?? secrets.env'
begin "$repository"
in_box "git rm -q --cached secrets.env; echo 2 >>g"
merges 'a file that is going to be tracked no more'
is 'a file that is going to be tracked no more' "$(cat "$project/secrets.env"; git_in status --porcelain)" 'key
?? secrets.env'
begin "$repository"
in_box "git rm -q --cached secrets.env; $commit; echo more >>secrets.env"
refuses 'a file that is not tracked and changed' '*not track*secrets.env*'
begin "$repository"
in_box "chmod +x g; $commit; chmod -x g; echo new >new"
merges 'a mode that was taken back'
check 'a mode that was taken back' test ! -x "$project/g"
begin "$repository"
in_box "rm d/a; $commit; git checkout -q HEAD^ -- d; echo new >new"
merges 'a deletion that was taken back'
is 'a deletion that was taken back' "$(cat "$project/d/a")" a

# Only in the index.
begin "$repository"
in_box 'echo staged >g; git add g; git show HEAD:g >g; echo 2 >>f'
refuses 'work that is only staged' '*staged*g*'
begin "$repository"
in_box 'echo staged >g; git add g; echo later >g'
merges 'staged, and changed since'
is 'staged, and changed since' "$(cat "$project/g")" later

# What git ignores by the rules of the user, who no longer tracks it.
begin "$repository && echo old >x.log && git add -f x.log && git commit -qm log && git rm -q --cached x.log && echo mine >x.log"
in_box 'echo 2 >>g'
mine=$(cat "$project/x.log")
hb commit -y --ignored @s >"$work/out" 2>&1
is 'an ignored file of the user that HEAD has stays' "$(cat "$project/x.log")" "$mine"
begin "$repository && echo old >x.log && git add -f x.log && git commit -qm log && git rm -q --cached x.log && echo mine >x.log"
in_box 'echo theirs >>x.log; echo 2 >>g'
refuses 'an ignored file of the user that both changed' '*x.log*' --ignored
refuses 'an ignored file of the user that both changed, unasked' '*x.log*'
begin "$repository && echo mine >y.log && git add -f y.log"
in_box 'echo theirs >y.log; echo 2 >>g'
refuses 'an ignored file that the user staged' '*y.log*' --ignored
begin "$repository && echo mine >z.log"
in_box 'echo theirs >>z.log; echo 2 >>g'
check 'an ignored file that both have' hb commit -y --ignored @s
is 'an ignored file that both have: by the usual rule' "$(tr '\n' , <"$project/z.log")" mine,theirs,

begin "$repository && echo old >x.log && git add -f x.log && git commit -qm log && git rm -q --cached x.log && echo mine >x.log"
in_box 'echo theirs >>x.log'
refuses 'an ignored file alone that both changed' '*x.log*' --ignored
begin "$repository"
in_box 'echo theirs >x.log'
check 'an ignored file alone' hb commit -y --ignored @s
is 'an ignored file alone arrives' "$(cat "$project/x.log"; git_in log --format=%s)" 'theirs
one'

# The user takes the repository away, or another one is there.
begin "$repository && echo edit >>g"
in_box 'echo 2 >>g; echo 2 >>f'
mv "$project/.git" "$work/away"
hb commit -y --no-gate @s >"$work/out" 2>&1
is 'no repository any more: nothing is written' "$? $(cat "$project/g" "$project/f" | tr '\n' ,)" '5 g,edit,1,2,3,4,5,6,7,8,9,10,'
(cd "$project" && git init -q && git add . && git commit -qm other)
hb commit -y --no-gate @s >"$work/out" 2>&1
is 'another repository: nothing is written' "$? $(cat "$project/g" "$project/f" | tr '\n' ,)" '5 g,edit,1,2,3,4,5,6,7,8,9,10,'
rm -rf "$project/.git"
mv "$work/away" "$project/.git"
refuses 'the repository is back' '*in the way of the merge: g*'
git_in checkout -q g
check 'the repository is back: a merge' hb commit -y @s
for option in '--ours f' '--theirs f' "--resource $project"; do
	in_box 'echo 3 >>f'
	# shellcheck disable=SC2086 # an option and its value
	hb commit -y $option @s >"$work/out" 2>&1
	is "commit $option is refused" "$?" 2
done

# Half of a merge.
begin "$repository"
in_box "git checkout -q -b side; echo s >>f; $commit; git checkout -q holdback/s; echo m >>f; $commit; git $id merge side" >/dev/null
refuses 'a merge under way in the session' '*a merge is under way*fix: *'
in_box "rm .git/MERGE_HEAD"
refuses 'a path that is not merged' '*not merged*f*fix: *'
begin "$repository"
in_box "git checkout -q -b side; echo s >>f; $commit; git checkout -q holdback/s; echo m >>f; $commit; git rebase side" >/dev/null 2>&1
refuses 'a rebase under way in the session' '*a rebase is under way*'

# Rules of the session say what it ignores.
begin "$repository"
in_box "echo 'm/' >>.gitignore; mkdir m; echo x >m/x; echo new >new; echo y >y.tmp; echo '*.tmp' >d/.gitignore; echo z >d/z.tmp"
merges 'files that the session ignores'
is 'files that the session ignores are in no commit' "$(git_in show --format= --name-only | tr '\n' ,)" .gitignore,d/.gitignore,new,y.tmp,
is 'files that the session ignores come as files' "$(cat "$project/m/x" "$project/d/z.tmp" | tr '\n' ,)" x,z,

# A file where the user has a directory with an ignored file.
begin "$repository && echo b >d/b.log"
in_box 'rm -rf d; echo file >d'
refuses 'a directory with an ignored file of the user' '*in the way*d/b.log*'

# The user's branch loses the commit that the session began at.
begin "$repository && echo 2 >>g && git commit -qam two"
in_box "echo 2 >>f; $commit"
git_in reset -q --hard HEAD^
refuses 'a commit that the user dropped' '*does not have the commit*fix: *rebase --onto*'

# A repository without modes.
begin "$repository && git config core.fileMode false"
in_box 'chmod +x f g; echo 2 >>g'
merges 'a repository without modes'
check 'a repository without modes: the files have those of the session' test -x "$project/f" -a -x "$project/g"

# Refused at the beginning: it could not come back.
cannot() {
	new_session "$2"
	hb cleanup -y @s >/dev/null
	out=$(hb create s --cow "$work/$3" --strategy git_worktree 2>&1)
	is "$1: the exit status" "$?" 10
	like "$1: the reason" "$out" "$4"
}
cannot 'objects of another repository' "$repository && git clone -q -s . ../q" q '*objects lie in another repository*fix: *'
cannot 'a split index' "$repository && git update-index --split-index" p '*index is split*fix: *'

# A sparse checkout in the session: to git the files are there.
begin "$repository"
in_box 'git sparse-checkout set --no-cone /f /.gitignore; echo 2 >>f'
refuses 'a sparse checkout in the session' '*not commit*'

# A sparse checkout: files that are not there are not removed.
begin "$repository && git sparse-checkout set --no-cone /f /g /.gitignore >/dev/null"
in_box "echo 2 >>f; git $id update-index --cacheinfo 100644,\$(echo b | git hash-object -w --stdin),d/a; git $id commit -qm sparse; git update-index --skip-worktree d/a; echo 3 >>f"
merges 'a sparse checkout'
is 'a sparse checkout: the file that is not there' "$(git_in show HEAD:d/a; ls "$project/d" 2>/dev/null)" b

# git runs in boxes alone: one that comes first in the PATH of the host is not in their view.
begin "$repository"
in_box "echo 2 >>f; $commit; echo 3 >>f"
mkdir -p "$work/bin"
printf '#!/bin/sh\necho ran >>%s\nexec /usr/bin/git "$@"\n' "$work/host" >"$work/bin/git"
chmod +x "$work/bin/git"
(PATH=$work/bin:$PATH && export PATH && git --version >/dev/null && hb commit -y @s >"$work/out" 2>&1 && hb undo @s >/dev/null && hb exec @s -- true &&
	hb commit -y @s >/dev/null && hb cleanup -y @s >/dev/null)
is 'git on the host: a commit, undo and cleanup' "$?" 0
is 'git on the host does not run' "$(cat "$work/host")" ran

# A beginning that was killed leaves a lock of its branch.
begin "$repository && echo '*.x filter=x' >.gitattributes && echo x >y.x && git add . && git commit -qm x"
in_box 'echo 2 >>g'
check 'before a beginning that leaves a lock: a commit' hb commit -y @s
(cd "$project" && git config filter.x.required true && echo edit >y.x &&
	git config filter.x.smudge 'mkdir -p .git/refs/heads/holdback; touch .git/refs/heads/holdback/s.lock; false')
in_box true 2>/dev/null
is 'a beginning that leaves a lock fails' "$?" 125
(cd "$project" && git config --unset filter.x.smudge && git config --unset filter.x.required)
is 'a beginning that leaves a lock is repeated' "$(in_box 'git symbolic-ref HEAD')" refs/heads/holdback/s

# Odd names.
begin "$repository"
in_box "n=\$(printf 'a\\nb\\tc'); echo 1 >\"\$n\"; git add -A; $commit; echo 2 >>\"\$n\"; echo x >'-x'; mkdir ' '; echo y >' /y'"
merges 'odd names'
is 'odd names: git sees no difference' "$(git_in status --porcelain; git_in ls-files | wc -l)" 8
finish
