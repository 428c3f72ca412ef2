#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# modes: root
#
# The security label of what arrives is that of the object it replaces, else
# that of the directory it goes into.  Without SELinux it is an attribute like
# any other that only root may set.
. "$HB_TESTS/lib/txn.sh"

# label PATH [VALUE]: sets it, or prints it.
label() {
	python3 -c 'if True:
		import os, sys
		path, *value = sys.argv[1:]
		if value:
		    os.setxattr(path, "security.selinux", value[0].encode())
		else:
		    try:
		        value = os.getxattr(path, "security.selinux", follow_symlinks=False)
		        print(value.decode())
		    except OSError:
		        print("none")' "$@"
}

: >"$work/probe"
label "$work/probe" x 2>/dev/null || skip_all 'security labels belong to the kernel here'

new_session '
	echo f >f; echo g >g; echo h >h; ln h h2; label . top
	label f first; label g second; label h third
'
# None of these copies an object up, which the overlay may not do with a label.
in_box '
	rm f; echo new >f; rm g; mkdir g; echo in >g/in; rm h h2; echo h >h; ln h h2
	echo added >added; mkdir -p tree/deep; echo t >tree/deep/t; ln -s f link
	ln tree/deep/t tree/two
'
check 'commit' hb commit -y @s
is 'what is replaced keeps its label' "$(label "$project/f")" first
is 'also by another type' "$(label "$project/g")" second
is 'with what is in it' "$(label "$project/g/in")" second
is 'what is new has that of its directory' "$(label "$project/added")" top
is 'also a link' "$(label "$project/link")" top
is 'also a tree' "$(label "$project/tree/deep")" top
is 'a label is kept on a file of two names, which is copied' \
	"$(label "$project/tree/deep/t")" top
before=$(digest "$project")
in_box 'rm f; echo again >f; mkfifo pipe'
check 'once more, in part' hb commit -y --only f @s
is 'the label stays' "$(label "$project/f") $(cat "$project/f")" 'first again'
check 'undo' hb undo @s
is 'the tree is as before' "$(digest "$project")" "$before"
is 'with its label' "$(label "$project/f")" first
finish
