#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git script
# timeout: 180
#
# git inside is git outside, without a flag: linked worktrees, submodules whose
# names are paths, and repositories that borrow objects.
# shellcheck disable=SC2016 # expanded inside
. "$HB_TESTS/lib/txn.sh"

remove_all
mkdir -p "$work/home"
export HOME="$work/home" XDG_STATE_HOME="$work/xdg" GIT_CONFIG_SYSTEM=/dev/null
git config --global user.name n
git config --global user.email e@example.com
git config --global init.defaultBranch main
git config --global protocol.file.allow always
run() {
	"$HB_BIN" "$@"
}
# works DIRECTORY NAME: the usual commands inside the repository there, then a commit.
works() {
	cd "$work/$1" || bail "no $1"
	works_branch=topic-$1
	shift
	git status --porcelain=v2 --branch | grep -v '^# branch.ab' >"$work/want"
	git log --oneline --all >>"$work/want"
	run run -q -s w -- sh -c 'git status --porcelain=v2 --branch | grep -v "^# branch.ab"; git log --oneline --all' >"$work/got" 2>&1
	is "$1: status and log are those outside" "$(diff "$work/want" "$work/got")" ''
	out=$(run run -q -s w -- sh -ec 'echo '"$works_branch"' >new; git add new; git commit -qm inside; git switch -q -c '"$works_branch"'
		echo more >>new; git commit -qam more; git fsck --no-dangling; git log -1 --format=%s' 2>&1)
	is "$1: add, commit and switch work" "$(printf '%s\n' "$out" | tail -n 1)" more
	is "$1: the session has files and one repository" "$(run status @w | grep -c '^  [AMD] ')" 2
	unlike "$1: no object is in the text" "$(run diff @w)" '*objects/*'
	is "$1: its commits are shown" "$(run diff --commits @w | grep -c '^    \(inside\|more\)$')" 2
	is "$1: nothing is unknown in them" "$(run diff --commits @w | grep -c '^# [^r]')" 0
	check "$1: the session is committed" run commit -y @w
	is "$1: the commits are outside" "$(git log -2 --format=%s | tr '\n' ,)" more,inside,
	is "$1: HEAD is on the branch of the session" "$(git symbolic-ref HEAD)" "refs/heads/$works_branch"
	is "$1: the tree is clean" "$(git status --porcelain)" ''
	check "$1: the repository is whole" git fsck --strict
	run cleanup -y @w >/dev/null 2>&1
	cd "$work" || bail 'no directory'
}

cd "$work" || bail 'no directory'

# What git compares with its index is the same inside: git reads no file again.
git init -q stat && cd stat && mkdir -p d/e && echo a >a && echo b >d/b && echo c >d/e/c && ln -s a l && git add -A && git commit -qm one
touch -d '2001-01-01' a d/b d/e/c && git status >/dev/null
is 'outside no file looks changed to git' "$(git diff-files)" ''
is 'inside no file looks changed to git' "$(run run -q -s i -- git diff-files 2>&1)" ''
run run -q -s i -- git status >/dev/null 2>&1
like 'git status inside writes no index' "$(run status @i 2>&1)" '* 0 B held back*no changes'
run cleanup -y @i >/dev/null 2>&1
"$HB_BIN" create c --cow . --strategy copy_on_write >/dev/null
run exec @c -- git status >/dev/null
is 'on a copy no file looks changed after the first git status' "$(run exec @c -- git diff-files 2>&1)" ''
run cleanup -y @c >/dev/null 2>&1
cd "$work" || bail 'no directory'

git init -q lib && (cd lib && echo l >l && git add l && git commit -qm lib)
git init -q r && (cd r && echo a >a && git add a && git commit -qm one && git worktree add -q ../tree && git worktree add -q ../beside)
works tree 'a linked worktree'
is 'the other worktree is as it was' "$(cd beside && git status --porcelain --branch)" '## beside'
git clone -q --shared r borrower
works borrower 'a clone that shares objects'
git clone -q --reference r "file://$work/r" reference
works reference 'a clone with a reference'
git clone -q --shared borrower twice
works twice 'a clone of a clone that shares'

# Submodules, of which one has a path for a name.
git init -q super && (cd super && git submodule --quiet add "$work/lib" libs/foo && git submodule --quiet add "$work/lib" plain &&
	git commit -qm sub)
cd super || bail 'no repository'
run run -q -s m -- sh -ec 'for d in libs/foo plain; do (cd $d; git status -sb; echo n >n; git add n; git commit -qm "in $d"); done
	git add -A; git commit -qm bump; git status --porcelain' >/dev/null 2>&1
is 'submodules: the session has two files and one repository' "$(run status @m | grep -c '^  [AMD] ')" 3
is 'submodules: each repository has its line' "$(run status @m | grep -c 'main: 1 commit (')" 3
unlike 'submodules: no object is in the text' "$(run diff @m)" '*objects/*'
is 'submodules: each repository has its commit' "$(run diff --commits @m | grep '^# ')" \
	'# repository .git/modules/libs/foo
# repository .git/modules/plain'
check 'submodules: the session is committed' run commit -y @m
is 'submodules: the tree is clean' "$(git status --porcelain)" ''
for d in . libs/foo plain; do
	check "submodules: $d is whole" git -C "$d" fsck --strict
done
touch -d '2001-01-01' libs/foo/l
run run -q -s m -- sh -ec 'cd libs/foo; echo o >o; git add o; git commit -qm o' >/dev/null 2>&1
git -C libs/foo status >/dev/null
check 'submodules: an index that git outside wrote anew is no conflict' run commit -y @m
run cleanup -y @m >/dev/null 2>&1

# The workspace may be the submodule itself.
cd libs/foo || bail 'no submodule'
run run -q -s m -- sh -ec 'echo p >p; git add p; git commit -qm p; git log -1 --format=%s' >"$work/got" 2>&1
is 'inside of a submodule git works' "$(cat "$work/got")" p
unlike 'inside of a submodule no object is in the text' "$(run diff @m)" '*objects/*'
run cleanup -y @m >/dev/null 2>&1
cd "$work" || bail 'no directory'

# A repository whose git would have to fetch says so once, where there is no network.
# starts: the lines before the command, on a terminal.
starts() {
	script -qec "'$HB_BIN' run --ephemeral $* -- true" /dev/null </dev/null | tr -d '\r\n' | tr -s ' '
}
git -C r config uploadpack.allowFilter true
git clone -q --filter=blob:none "file://$work/r" partial
cd partial || bail 'no partial clone'
like 'a partial clone says what it lacks' "$(starts)" '*git: this is a partial clone; objects that are not here cannot be fetched*'
unlike 'a partial clone with the network says nothing' "$(starts --net host)" '*partial clone*'
unlike 'a quiet run says nothing' "$(starts -q)" '*partial clone*'
cd ../r || bail 'no repository'
unlike 'a whole repository says nothing' "$(starts)" '*cannot be fetched*'
mkdir .git/lfs
like 'a repository with LFS says what it lacks' "$(starts)" '*git: large files of LFS that are not here cannot be fetched*'
rmdir .git/lfs
cd ../borrower || bail 'no clone'
like 'a repository that borrows objects says so' "$(starts)" \
	'*git: 1 directory of objects that the repository borrows is shown, read-only*'
cd "$work" || bail 'no directory'

# Alternates that lead elsewhere show nothing.
cp -r r planted
mkdir -p secret/objects secret/plain && touch secret/objects/sekret secret/plain/sekret home/sekret
cp -r r other && rm -rf other/.git/HEAD && touch other/.git/objects/sekret
link=$work/linked
mkdir "$link" && ln -s "$work/secret/objects" "$link/objects"
for to in "$work/secret/objects" "$work/secret/plain" "$work/other/.git/objects" "$link/objects" ../../../secret/objects '"unended' \
	"$HOME" /; do
	printf '%s\n' "$to" >planted/.git/objects/info/alternates
	is "an alternate shows nothing: $(echo "$to" | sed "s|$work/||")" \
		"$(cd planted && run run -q --ephemeral -- sh -c "cd .git/objects; ls -A '$to' '$work/secret' 2>/dev/null" | grep -c sekret)" 0
done
mkfifo planted/fifo && mv planted/fifo planted/.git/objects/info/alternates
is 'an alternates that is a fifo is passed over' "$(cd planted && run run -q --ephemeral -- echo ran 2>&1)" ran
rm planted/.git/objects/info/alternates
printf '%s\n' "$work/r/.git/objects" >planted/.git/objects/info/alternates
is 'only the objects of another repository are shown' \
	"$(cd planted && run run -q --ephemeral -- sh -c "ls -A '$work/r/.git' '$work/r'" | tr -s '\n' ' ')" "$work/r: .git $work/r/.git: objects "
is 'they cannot be written' "$(cd planted && run run -q --ephemeral -- sh -c "echo x >'$work/r/.git/objects/x' 2>/dev/null || echo refused")" refused
(cd planted && run run -q -s a -- sh -c 'echo /etc >>.git/objects/info/alternates' >/dev/null 2>&1)
(cd planted && run commit -y @a >"$work/got" 2>&1)
is 'alternates that a session made are asked about' "$?" 4
like 'the rule is named' "$(cat "$work/got")" '*git-alternates*'
(cd planted && run cleanup -y @a >/dev/null 2>&1)
finish
