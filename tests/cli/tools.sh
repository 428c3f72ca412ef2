#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git gcc make python3 node vim gdb strace tar
# timeout: 120
#
# Real tools inside of a run, and an agent from its first edit to undo.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'
HOME=$work/home
export HOME
# A python of the home directory of whoever started this is not in the view.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
mkdir home p && cd p || bail 'no directory'
git config --global user.name tester
git config --global user.email tester@example.org
git config --global init.defaultBranch main
git init -q .
mkdir src
cat >src/main.c <<'X'
#include <pthread.h>
#include <stdio.h>
int half(int n);
static void *work(void *n)
{
	return (void *)(long)half(*(int *)n);
}
int main(void)
{
	int n = 84;
	void *got;
	pthread_t t;
	pthread_create(&t, NULL, work, &n);
	pthread_join(t, &got);
	printf("%ld\n", (long)got);
	return 0;
}
X
echo 'int half(int n) { return n / 2; }' >src/half.c
printf 'prog: src/main.o src/half.o\n\tgcc -g -pthread -o $@ $^\n%%.o: %%.c\n\tgcc -g -c -o $@ $<\n' >Makefile
printf 'prog\n*.o\n' >.gitignore
git add . && git commit -qm first

# in_run NAME WANT SCRIPT: in the session t.
in_run() {
	is "$1" "$("$HB_BIN" -q -s t -- sh -c "$3" 2>&1)" "$2"
}
in_run 'git status' '' 'git status --porcelain'
in_run 'gcc and make' 42 'make -s -j4 && ./prog'
in_run 'nothing to do the second time' "make: 'prog' is up to date." 'make'
in_run 'git commit' "second${nl}first" \
	'echo "// more" >>src/half.c && git commit -qam second && git log --format=%s'
in_run 'git worktree' "main side" '
	git worktree add -q ../p/side -b side && cd side && echo x >x &&
	git add x && git commit -qm side && git -C .. branch --format="%(refname:short)" | xargs'
in_run 'git stash, gc, rebase' ok '
	echo y >>Makefile && git stash -q && git stash pop -q && git checkout -q Makefile &&
	git rebase -q HEAD~1 && git gc -q && echo ok'
in_run 'python with threads and processes' '45 285' 'python3 -c "
import multiprocessing, threading
got = []
threads = [threading.Thread(target=got.append, args=(i,)) for i in range(10)]
[t.start() for t in threads]; [t.join() for t in threads]
def square(n): return n * n
with multiprocessing.Pool(2) as pool: print(sum(got), sum(pool.map(square, range(10))))"'
in_run 'node with child processes' 'out 3' 'node -e "
const c = require(\"child_process\");
const out = c.execFileSync(\"sh\", [\"-c\", \"echo out\"]).toString().trim();
const p = c.spawn(\"sh\", [\"-c\", \"exit 3\"]);
p.on(\"exit\", (code) => console.log(out, code));"'
if command -v npm >/dev/null; then
	mkdir ../dep && echo '{"name":"dep","version":"1.0.0"}' >../dep/package.json
	echo 'module.exports = 7' >../dep/index.js
	tar -C .. -czf ../dep.tgz --transform 's/^dep/package/' dep
	cp ../dep.tgz .
	in_run 'npm install of a tarball' 7 '
		npm init -y >/dev/null 2>&1 && npm install --offline --no-audit --no-fund ./dep.tgz >/dev/null 2>&1 &&
		node -p "require(\"dep\")"'
	rm dep.tgz
else
	skip 'npm install of a tarball' 'there is no npm'
fi
in_run 'vim' 'edited' 'vim -es -u NONE -c "%d" -c "call setline(1, \"edited\")" -c wq v && cat v'
in_run 'an interactive shell' "hi${nl}2" 'printf "echo hi\nexit 2\n" | sh -i 2>/dev/null; echo $?'
in_run 'tar and find' 100 '
	mkdir t && for i in $(seq 100); do echo $i >t/$i; done && tar -cf t.tar t && rm -r t &&
	tar -xf t.tar && find t -type f | wc -l'
in_run 'strace' 'openat' 'strace -f -e trace=openat cat src/half.c 2>&1 >/dev/null | sed -n "s/(.*//p" | sort -u'
in_run 'gdb' '$1 = 84' 'gdb -q -batch -ex "break half" -ex run -ex "print n" ./prog 2>/dev/null | grep "^.1 ="'
"$HB_BIN" cleanup -y @t >/dev/null
is 'the project is as it was after the tools' "$(git status --porcelain; ls; git log --format=%s)" \
	"Makefile${nl}src${nl}first"

# An agent that edits 50 files, tests and commits.
for i in $(seq 50); do
	echo "exports.v = $i" >"src/m$i.js"
done
cat >test.sh <<'X'
for i in $(seq 50); do
	node -e "process.exit(require('./src/m$i.js').v === $i * 2 ? 0 : 1)" || exit 1
	[ $((i % 10)) -ne 0 ] || echo "tested $i"
done
X
cat >../agent.js <<'X'
const fs = require("fs"), { execFileSync } = require("child_process");
for (let i = 1; i <= 50; i++) {
	const name = `src/m${i}.js`;
	fs.writeFileSync(name + ".tmp", fs.readFileSync(name, "utf8").replace(i, i * 2));
	fs.renameSync(name + ".tmp", name);
}
console.log(execFileSync("sh", ["test.sh"]).toString().trim().split("\n").length);
execFileSync("git", ["commit", "-qam", "double"]);
X
git add . && git commit -qm modules
before=$(git rev-parse HEAD)
# git status outside writes the index anew, which is a change for undo.
GIT_OPTIONAL_LOCKS=0
export GIT_OPTIONAL_LOCKS
says="holdback: session node-1 is kept: 50 files: 50 changed · git${nl}  main: 1 commit (ID double)${nl}"
is 'an agent edits 50 files, tests and commits' \
	"$("$HB_BIN" --ro ../agent.js node ../agent.js 2>&1 | sed 's/([0-9a-f]* double/(ID double/')" \
	"5${nl}${says}Go on: holdback -c node ../agent.js"
is 'the real ones are as they were' "$(cat src/m7.js) $(git rev-parse HEAD)" \
	"exports.v = 7 $before"
like 'what it did can be read' "$("$HB_BIN" diff src/m7.js)" \
	"*-exports.v = 7${nl}+exports.v = 14"
like 'commit' "$("$HB_BIN" commit -y)" 'committed session *: 50 files: 50 changed*'
is 'it is there, and git agrees' \
	"$(cat src/m7.js) $(git log -1 --format=%s) $(git status --porcelain)" \
	'exports.v = 14 double '
check 'also by git fsck' git fsck --strict
check 'undo' "$HB_BIN" undo
is 'it never happened' \
	"$(cat src/m7.js) $(git rev-parse HEAD) $(git status --porcelain)" \
	"exports.v = 7 $before "
"$HB_BIN" cleanup -y @node-1 >/dev/null
done_testing
