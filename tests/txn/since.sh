#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What changed since a mark: both ends are states of the session.
. "$HB_TESTS/lib/txn.sh"

new_session 'echo one >f; echo g >g; mkdir -p d/e; echo x >d/x; echo y >d/e/y; echo same >same; echo k >k; ln -s f l; echo m >m; echo gone >gone'
in_box 'echo two >f; echo n >n; rm g; echo changed >k; mkdir new; echo a >new/a; rm -r d; ln -sfn g l; chmod 600 m; rm gone'
hb mark @s a >/dev/null
is 'nothing changed since' "$(names --since a)" ''
in_box 'touch n; cat f >/dev/null; echo two >f.new; mv f.new f'
is 'files that are the same are no change since the mark' "$(names --since a)" ''
in_box 'echo three >f; rm n; echo g2 >g; echo k >k; echo b >new/b; mkdir -p d/e; echo x >d/x; echo own >own; rm m; mkdir m; echo back >gone; ln -sfn f l; chmod 700 new'
is 'both ends are compared' "$(names --since a)" \
	'A d/,A d/e/,A d/x,M f,A g,A gone,M k,M l,T m/,D n,P new/,A new/b,A own,'
is 'all of it is something else' "$(names)" \
	'D d/e/y,M f,M g,M gone,T m/,A new/,A new/a,A new/b,A own,'
hb mark @s b >/dev/null
in_box 'echo four >f; rm own'
is 'since the later mark' "$(names --since b)" 'M f,D own,'
is 'a filter' "$(names --since b --only f)" 'M f,'
like 'status' "$(hb status --since b @s | tail -n 1)" '2 files: 1 changed, 1 deleted*'
is 'the text of both ends' "$(hb diff --no-pager --since b @s f | sed -n '/^@@/,$p')" \
	"$(printf '@@ -1 +1 @@\n-three\n+four')"
is 'also where the base is one' "$(hb diff --no-pager --since a @s k | sed -n '/^@@/,$p')" \
	"$(printf '@@ -1 +1 @@\n-changed\n+k')"
check_exit 'a mark that is not there' 2 hb status --since x @s
check 'rollback' hb rollback -y --to b @s
is 'then it is as it was' "$(names --since b)" ''
finish
