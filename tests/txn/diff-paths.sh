#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# diff PATH...: nothing but what is at or below the paths.
. "$HB_TESTS/lib/txn.sh"

new_session 'mkdir -p d/e dd; echo x >d/x; echo y >d/e/y; echo z >dd/z; echo f >f'
in_box 'echo 1 >>d/x; echo 1 >>d/e/y; echo 1 >>dd/z; echo 1 >>f; mv d/x d/w'

# below PATH...: the change set, in the project.
below() {
	hb diff --name-status @s "$@" | tr '\t' ' ' | tr '\n' ','
}
is 'a directory, and not its namesake' "$(below d)" 'M d/e/y,A d/w,D d/x,'
is 'a file' "$(below f)" 'M f,'
is 'several' "$(below dd f)" 'M dd/z,M f,'
is 'an absolute path' "$(below "$project/d/e")" 'M d/e/y,'
is 'dots and slashes' "$(below ./d//e/../../f)" 'M f,'
is 'the whole' "$(below .)" 'M d/e/y,A d/w,D d/x,M dd/z,M f,'
is 'nothing' "$(below d/none)" ''
is 'from a directory below' "$(cd "$project/d" &&
	"$HB_BIN" diff --state-dir "$state" --name-status @s e)" \
	"$(printf 'M\td/e/y')"
is 'with a filter' "$(below --except e d)" 'A d/w,D d/x,'
check_exit 'a path outside' 2 hb diff --name-status @s ..
check_exit 'no changes there' 0 hb diff --name-status --exit-code @s d/none
check_exit 'changes there' 1 hb diff --name-status --exit-code @s f
is 'the count in JSON is of the paths' "$(hb diff --name-status --json @s d/e f |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["summary"]["files"])')" 2

# A repository is one unit, whatever of it is named.
hb cleanup -y @s >/dev/null
new_session 'git init -q . && git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x'
in_box 'git -c user.name=x -c user.email=x@x commit -q --allow-empty -m y'
is 'a part of a repository is all of it' "$(below .git/HEAD)" "$(below .git)"
unlike 'diff of a part of a repository is not empty' "$(below .git)" ''

# The path inside the view.
hb cleanup -y @s >/dev/null
remove_all
mkdir -p "$project"
hb create s --cow "$project:/tmp/inside" >/dev/null
hb exec @s -- sh -c 'echo new >/tmp/inside/n; echo new >/tmp/inside/m'
is 'a path of the view' "$(below /tmp/inside/n)" 'A n,'
hb cleanup -y @s >/dev/null
finish
