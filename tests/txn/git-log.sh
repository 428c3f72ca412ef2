#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
# timeout: 180
#
# `diff --commits` shows the commits of a session as `git log -p` would: the two
# are compared byte by byte.  Renames, notes and the mailmap are not shown.
# shellcheck disable=SC2016 # expanded inside
. "$HB_TESTS/lib/txn.sh"

export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
# commit ARGUMENT...: with dates that differ, the later ones later.
head='export GIT_AUTHOR_NAME="A U Thor" GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@example.com
	export GIT_CONFIG_GLOBAL=/dev/null
	tick=1700000000
	commit() {
		tick=$((tick + 60))
		GIT_AUTHOR_DATE="@$tick ${zone:-+0130}" GIT_COMMITTER_DATE="@$tick +0000" git commit -q "$@"
	}
'
start="$head"'
	git init -q -b main . && mkdir d && seq 40 >d/n && printf "a\tb\n" >t && printf "\0\1\2" >bin && ln -s t link
	echo "#!/bin/sh" >run.sh && chmod 644 run.sh && printf none >no-newline && echo gone >gone && : >empty
	git add -A && commit -m one && git branch side && git tag v1'
log='git -c core.quotePath=false log -p --date-order --no-renames --no-notes --no-mailmap --no-decorate --no-color --no-ext-diff --no-textconv --abbrev=7'
# same NAME DIRECTORY SCRIPT: both show the same after the script.
same() {
	was=$(cd "$project/$2" && git for-each-ref --format='%(objectname)' && git rev-parse -q --verify HEAD)
	in_box "$head cd $2 && $3"
	in_box "cd $2 && $log --all HEAD --not $(echo $was)" >"$work/want"
	hb diff --commits @s | grep -v '^# ' >"$work/got"
	[ -s "$work/want" ] || bail "$1: git shows nothing"
	is "$1" "$(diff "$work/want" "$work/got" | head -n 20)" ''
}

new_session "$start"
same 'files of all kinds' . '
	seq 2 41 >d/n; printf "a\tc\n" >t; printf "\0\1\3" >bin; ln -sf bin link; chmod 755 run.sh
	printf "other" >no-newline; rm gone; echo full >empty; mkdir e; echo new >"e/with blank"; printf x >e/x
	: >still-empty; printf "q" >"$(printf "e/\303\244\"q")"
	git add -A; commit -m "All kinds

of changes	with	tabs
   and indented lines   

behind empty ones.

"'
is 'a document has the same commits' "$(hb diff --commits --json @s | python3 -c '
import json, sys
for c in json.load(sys.stdin)["commits"]:
    print(c["id"], c["author"]["name"], c["author"]["mail"], c["author"]["time"], c["author"]["zone"], c["refs"],
          sum(f.get("lines_added", 0) for f in c["files"]), len(c["files"]), c["cut"], c["missing"])')" \
	"$(in_box 'git log -1 --format="%H %an <%ae> %at"' | sed 's/[<>]//g') +0130 ['refs/heads/main'] $(
		in_box 'git log -1 --numstat --format= --no-renames' | awk '{ n += $1; k++ } END { print n, k }') False False"
same 'several branches, tags and a merge' . '
	tick=1700000600; git switch -q -c topic; echo 1 >1; git add 1; commit -m topic-1; git switch -q main
	echo 2 >2; git add 2; commit -m main-2; git tag light
	tick=$((tick + 60)); export GIT_COMMITTER_DATE="$tick +0000" GIT_AUTHOR_DATE="$tick +0000"
	git merge -q -m "Merge topic" topic; git tag -a -m words heavy; git switch -q -c third side
	unset GIT_COMMITTER_DATE GIT_AUTHOR_DATE; tick=1700001200; echo 3 >3; git add 3; commit -m third'
same 'a type that changes, and a directory in place of a file' . '
	tick=1700002000; rm link t; echo file >link; ln -s nowhere t; git add -A; commit -m types
	rm -rf d; echo flat >d; rm empty; mkdir empty; echo in >empty/in; git add -A; commit -m directories'
same 'odd people and dates' . '
	tick=1700003000; zone=-0330; GIT_AUTHOR_NAME="  Spaces  in  " commit --allow-empty -m west
	GIT_AUTHOR_NAME="$(printf "\303\204\303\266")" GIT_AUTHOR_EMAIL= commit --allow-empty -m "umlaut $(printf "\303\274\tx")"
	commit --allow-empty --allow-empty-message -m ""
	echo z >z; git add z; commit --allow-empty-message -m ""; tick=1000000; commit --allow-empty -m "long ago"'
same 'a detached HEAD' . 'tick=1700004000; git checkout -q --detach; echo h >h; git add h; commit -m loose'
same 'a stash' . 'git switch -q main; echo s >>2; GIT_COMMITTER_DATE="1700005000 +0000" git stash -q'
same 'objects in packs' . 'git repack -q -a -d -f --depth=20; git prune-packed; git pack-refs --all'

new_session "$head git init -q -b main ."
same 'the first commit of a repository' . 'echo a >a; git add a; commit -m first; echo b >>a; commit -am second'
new_session "$head git init -q -b main --object-format=sha256 . && echo a >a && git add a && commit -m first"
same 'a repository with SHA-256' . 'tick=1700006000; echo b >>a; echo n >n; git add n; commit -am second; rm n; commit -am third'

# A submodule: both repositories, each after the other.
new_session "$head git init -q -b main lib && (cd lib && echo l >l && git add l && commit -m lib) &&
	git init -q -b main . && git -c protocol.file.allow=always submodule add -q ./lib libs/foo 2>/dev/null && commit -m sub"
same 'the line of a submodule' . '
	tick=1700007000; git rm -q --cached libs/foo; commit -m away; git add libs/foo 2>/dev/null; commit -m again'

# What git does not say.
new_session "$start"
in_box "$head git branch -D side -q; git checkout -q -b t2; git tag -d v1 >/dev/null; git reset -q --hard; git branch new"
is 'branches without commits are told' "$(hb diff --commits @s)" '# git: new: new branch
# git: side: branch deleted
# git: t2: new branch
# git: tag v1: tag deleted'
new_session "$start"
in_box "$head"'printf "tree %s\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\n\033[2Jbad\tline\n" "$(git rev-parse HEAD^{tree})" |
	git hash-object -t commit -w --stdin >.git/refs/heads/escape; printf "\033[31mred\n" >red; git add red; commit -m red'
out=$(cd "$project" && python3 -c '
import os, pty, subprocess, sys
ours, theirs = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=theirs)
os.close(theirs)
try:
    while data := os.read(ours, 4096):
        sys.stdout.buffer.write(data)
except OSError:
    pass
sys.exit(child.wait())' "$HB_BIN" diff --commits --no-pager --state-dir "$state" @s)
like 'on a terminal the references of a commit are told' "$out" '*(main)*'
like 'a message cannot speak to the terminal' "$out" '*    *^[[]*[[]2Jbad*line*'
unlike 'no byte of it reaches the terminal' "$out" "*$(printf '\033')[[]2J*"
like 'a file cannot either' "$out" '*^[[]*[[]31mred*'
is 'with colours the name of a commit is yellow, as that of git' \
	"$(hb diff --commits --color @s | head -n 1)" "$(in_box 'git log -1 --format= --no-decorate --color=always; git log -1 --no-decorate --color=always | head -n 1')"

# What is not there, or too large.
new_session "$start"
in_box "$head"'echo x >x; git add x; commit -m x; echo y >y; git add y; commit -m y; head -c 9000000 /dev/zero | tr "\0" a >big; git add big; commit -m big; echo z >z; git add z; commit -m z
	blob=$(git rev-parse HEAD:y); chmod u+w .git/objects/*/*; echo junk >.git/objects/$(echo $blob | cut -c1-2)/$(echo $blob | cut -c3-)
	tree=$(git rev-parse "HEAD^{tree}"); rm -f .git/objects/$(echo $tree | cut -c1-2)/$(echo $tree | cut -c3-)
	echo 0123456789012345678901234567890123456789 >.git/refs/heads/missing'
out=$(hb diff --commits @s)
is 'a damaged repository is shown as far as it goes' "$?" 0
like 'a large file is told' "$out" '*is too large to be shown*Binary files /dev/null and b/big differ*'
like 'a damaged file is told' "$out" '*is missing or damaged*'
like 'a missing tree is told' "$out" '*# more files differ: their trees are missing, damaged or too large*'
like 'a missing commit is told' "$out" '*commit 0123456789012345678901234567890123456789
# the repository of the session does not have it, or it is damaged*'
check 'its document is one as well' sh -c "'$HB_BIN' diff --commits --json --state-dir '$state' @s | python3 -m json.tool >/dev/null" 

for option in --stat --binary --name-status '--only=x' '--except=x' '--since=m'; do
	check_exit "--commits and $option exclude each other" 2 hb diff --commits "$option" @s
done
check_exit '--commits and a path exclude each other' 2 hb diff --commits @s x
finish
