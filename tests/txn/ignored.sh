#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
#
# What git ignores, by the real directory's rules: one line, and it stays behind
# in the session unless it is asked for.  (Q22)
. "$HB_TESTS/lib/txn.sh"

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
repository='git init -q . && git config user.name x && git config user.email x@x'

# json FIELD: of the document of status.
json() {
	hb status --json @s | python3 -c "import json, sys; d = json.load(sys.stdin); print($1)"
}

new_session "$repository; printf 'mod/\n*.o\nbuild\n' >.gitignore; echo c >a.c
	mkdir build; echo t >build/kept; echo o >old.o; git add -f .gitignore a.c build/kept"
before=$(digest "$project")
in_box 'echo c2 >a.c; mkdir -p mod/x; echo 12345 >mod/x/i; echo j >mod/j; echo p >b.o
	echo t2 >build/kept; echo n >build/new; rm old.o'
is 'what is ignored is no change' "$(names)" 'M a.c,M build/kept,'
is '--ignored shows what git ignores' "$(names --ignored)" \
	'M a.c,A b.o,M build/kept,A build/new,A mod/,A mod/j,A mod/x/,A mod/x/i,D old.o,'
is 'status has a line for each topmost directory' "$(hb status @s | grep ignored)" \
	'  ignored: b.o (1 file, 2 B)
  ignored: build/ (1 file, 2 B)
  ignored: mod/ (2 files, 8 B)
  ignored: old.o (0 files, 0 B, 1 deleted)
2 files: 2 changed · 5 ignored (12 B)'
is 'the text of changes has a line for each ignored directory' "$(hb diff --no-pager @s | grep -c '^# ignored: ')" 4
check 'git applies a diff with lines about ignored files' sh -c \
	"cd '$project' && '$HB_BIN' diff --no-pager --state-dir '$state' @s | git apply --check"
is 'the document lists ignored directories' "$(json '[(i["path"], i["files"], i["deleted"], i["bytes"]) for i in d["ignored"]]')" \
	"[('b.o', 1, 0, 2), ('build', 1, 0, 2), ('mod', 2, 0, 8), ('old.o', 0, 1, 0)]"
is 'with the summary' "$(json 'd["summary"]["ignored"], d["summary"]["ignored_bytes"]')" '5 12'
is 'only what was asked for is counted' "$(hb status --only 'mod' @s | tail -1)" \
	'no changes · 2 ignored (8 B)'

hash=$(json 'd["summary"]["hash"]')
in_box 'echo more >mod/j'
is 'the hash is of what would be committed' "$(json 'd["summary"]["hash"]')" "$hash"
check_exit 'the hash does not serve for a commit with --ignored' 5 hb commit -y --ignored --expect "$hash" @s
is 'the real tree has not noticed' "$(digest "$project")" "$before"
is 'commit' "$(hb commit -y --expect "$hash" @s | sed 's/ · undo.*//')" \
	'committed session s: 2 files: 2 changed · 5 ignored (15 B)'
is 'leaves them behind' "$(cd "$project" && echo * build/*)" 'a.c build old.o build/kept'
is 'in the session' "$(names)$(names --ignored)" \
	'A b.o,A build/new,A mod/,A mod/j,A mod/x/,A mod/x/i,D old.o,'
is 'ignored files stay in the view after a commit' "$(in_box 'cat mod/j build/new a.c; ls')" "$(printf 'more\nn\nc2\na.c\nb.o\nbuild\nmod')"
is 'there is nothing to commit' "$(hb commit -y @s)" 'nothing to commit · 5 ignored (15 B)'
check 'undo' hb undo @s
is 'brings the others back' "$(names)" 'M a.c,M build/kept,'
is 'undo restores the real tree beside ignored files' "$(digest "$project")" "$before"
check 'redo' hb redo @s
is 'only --ignored commits them' "$(hb commit -y --ignored @s | sed 's/ · undo.*//')" \
	'committed session s: 5 files: 4 added, 1 deleted · 2 directories'
is 'as they are' "$(cd "$project" && cat mod/j b.o; ls)" "$(printf 'more\np\na.c\nb.o\nbuild\nmod')"
is 'nothing is left' "$(names --ignored)" ''

# The rules are those from before, and the session's own count for nothing.
new_session "$repository; echo '*.log' >.gitignore; git add ."
in_box 'printf "*\n" >.gitignore; mkdir d; printf "*\n" >d/.gitignore; echo x >d/x; echo l >l.log
	echo "*.y" >.git/info/exclude; echo y >y.y; git add -f l.log'
is 'an agent cannot hide anything' "$(hb diff --name-status @s | grep -v '\.git/' | tr '\t\n' ' ,')" \
	'M .gitignore,A d/,A d/.gitignore,A d/x,A y.y,'
check 'commit' hb commit -y @s
is 'what it has added to the index is no longer ignored then' "$(names)" 'A l.log,'

# A mark, and what came after it.
new_session "$repository; echo 'o/' >.gitignore; git add ."
in_box 'mkdir o; echo 1 >o/1; echo a >a'
check 'mark' hb mark @s m
in_box 'echo 2 >o/2; echo b >b'
is 'since a mark the same holds' "$(names --since m)$(names --ignored --since m)" 'A b,A b,A o/2,'
check 'commit over a mark' hb commit -y @s
is 'leaves it behind as well' "$(names)$(names --ignored)$(in_box 'cat o/1 o/2')" \
	"$(printf 'A o/,A o/1,A o/2,1\n2')"
check 'fork' hb fork @s t
is 'a fork has ignored files' "$(hb exec @t -- cat o/1)" 1

# A directory goes with something ignored in it, and a file leaves or enters.
new_session "$repository; echo 'o/' >.gitignore; mkdir -p d/o; echo a >d/a; echo k >d/o/k
	echo big-enough >d/o/m; git add ."
in_box 'mv d/o/m n; rm -r d; mkdir o; echo q >o/q'
is 'the deletions are not hidden, but for what stays for its sake' "$(names)" 'D d/a,A n,'
check 'commit' hb commit -y @s
is 'what is ignored is still there' "$(cd "$project" && find . -path ./.git -prune -o -type f -print | sort | tr '\n' ' ')" \
	'./.gitignore ./d/o/k ./d/o/m ./n '
is 'the deletion of an ignored file is pending' "$(names --ignored | tr ',' '\n' | grep '^D' | tr '\n' ',')" \
	'D d/,D d/o/,D d/o/k,D d/o/m,'
check 'until it is asked for' hb commit -y --ignored @s
is 'then it goes' "$(cd "$project" && ls)" "$(printf 'n\no')"

# Repositories in each other: each has its rules, unless the outer ignores it.
new_session "$repository; printf '*.o\nout/\n' >.gitignore; git add .
	mkdir in out; (cd in && $repository && echo '*.p' >.gitignore)
	(cd out && $repository)"
in_box 'for d in . in out; do echo 1 >$d/x.o; echo 2 >$d/x.p; done
	cd out; git add .; git commit -q -m x'
is 'nested repositories' "$(names)" 'A in/x.o,A x.p,'
is 'one that is ignored is so as a whole' "$(hb status @s | grep -c 'ignored: out/')" 1

# A submodule and a worktree, whose git directories lie elsewhere.
new_session "mkdir top; cd top; $repository; mkdir .git/modules sub
	git init -q --separate-git-dir .git/modules/sub sub; echo '*.o' >sub/.gitignore
	echo t >sub/t.o; git -C sub add -f t.o"
in_box 'cd top/sub; echo 1 >u.o; echo 2 >t.o; echo 3 >x'
is 'a submodule has rules' "$(names)" 'M top/sub/t.o,A top/sub/x,'
new_session "$repository; cd ..; mkdir -p repo; cd repo; $repository; echo '*.o' >.gitignore
	echo t >t.o; git add -f .; git commit -q -m x; mkdir -p .git/info; echo '*.e' >.git/info/exclude
	rm -rf '$project'; git worktree add -q '$project' -b w"
in_box 'echo 1 >u.o; echo 2 >t.o; echo 3 >x; echo 4 >y.e'
is 'a worktree has those of its repository' "$(names)" 'M t.o,A x,'
rm "$work/repo/.git/worktrees/p/gitdir"
is 'unless that does not name it' "$(names)" 'M t.o,A u.o,A x,A y.e,'

# What is no repository ignores nothing, and neither does what nobody understands.
new_session "echo '*.o' >.gitignore"
in_box 'echo 1 >a.o'
is 'without a repository nothing is ignored' "$(names)" 'A a.o,'
new_session "$repository; echo '*.o' >.gitignore; echo junk >.git/index"
in_box 'echo 1 >a.o'
is 'nothing is ignored with an index that cannot be understood' "$(names)" 'A a.o,'
new_session "$repository; echo '*.o' >rules; ln -s rules .gitignore; mkdir d e; mkfifo d/.gitignore
	mkdir e/.gitignore; mkdir f; echo '*' >f/.gitignore; chmod 0 f/.gitignore"
in_box 'for d in . d e; do echo 1 >$d/a.o; done'
is 'nothing but a file is read' "$(names)" 'A a.o,A d/a.o,A e/a.o,'
new_session "$repository; yes '*.o' | head -c 1100000 >.gitignore"
in_box 'echo 1 >a.o'
is 'an ignore file that is too large is not read' "$(names)" 'A a.o,'


# Rules that are made to be slow: each is compared with each path.
slow='**/'$(printf 'a*%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20)'b?'
name=$(printf 'a%.0s' $(seq 200))
new_session "$repository; echo '*.o' >.gitignore; yes '$slow*' | head -5000 >>.gitignore"
in_box "i=0; while [ \$i -lt 12 ]; do echo >$name\$i; i=\$((i + 1)); done; echo >z.o"
is 'rules that take too much work end as not ignored, and the summary says so' \
	"$(hb status @s | tail -1 | sed 's/: [0-9]* paths* count/: N paths count/')" \
	'13 files: 13 added · .gitignore takes too long to read: N paths count as not ignored'
is '--json has the number of these paths' "$(json '0 < d["summary"]["unjudged"] <= 13')" True
check 'a mark is set beside slow rules' hb mark @s 'then'
in_box "echo >${name}after"
is '--json of the changes since a mark has the number of these paths' "$(hb diff --json --since 'then' @s |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["summary"]["unjudged"] > 0)')" True
is 'commit takes them, and says so as well' "$(hb commit -y @s | grep -c 'takes too long to read')" 1
check 'all of them' test -e "$project/z.o"

finish
