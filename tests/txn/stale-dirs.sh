#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 300
#
# A commit leaves no directory in the layer that would hide later changes of the
# real one, and undo makes those that it needs again.
. "$HB_TESTS/lib/txn.sh"

# upper: the names in the session's layer.
upper() {
	(cd "$state/sessions/s/r0/upper" && find . -mindepth 1 | sort | tr '\n' ' ')
}

# view: every attribute of everything that a command sees.
view() {
	hb exec @s -- find . -mindepth 1 -printf '%p %y %m %s %T@ %l\n' | sort
}

for HB_STRATEGY in overlay copy_on_write; do
	new_session 'mkdir -p d/e x; echo f >d/e/f; echo g >d/g; chmod 750 d'
	in_box 'echo more >>d/e/f; rm d/g; chmod 700 x; echo n >x/n'
	check "commit ($HB_STRATEGY)" hb commit -y @s
	is 'nothing is left in the layer' "$(upper)" ''
	chmod 711 "$project/d"
	is 'the view follows the mode' "$(in_box 'stat -c %a d')" 711
	rm -r "$project/d"
	is 'the view follows the removal of a directory' "$(in_box 'ls')" x
	echo file >"$project/d"
	is 'the view follows the file in the place of a directory' "$(in_box 'cat d')" file
	is 'nothing of it is pending' "$(names)" ''

	# There and back.
	new_session 'mkdir -p d/e x; echo f >d/e/f; echo g >d/g; chmod 750 d; touch -d 2001-01-01 d/e x d'
	in_box 'echo more >>d/e/f; rm d/g; chmod 700 x; touch -d 2002-02-02 d/e'
	pending=$(names)
	before=$(view)
	for round in 1 2; do
		if [ "$round" = 1 ]; then
			check "commit ($HB_STRATEGY)" hb commit -y @s
		else
			check 'redo' hb redo @s
		fi
		is 'nothing is left in the layer' "$(upper)" ''
		is 'redo leaves nothing pending' "$(names)" ''
		check 'undo' hb undo @s
		is 'the same is pending' "$(names)" "$pending"
		is 'the view is the same after undo' "$(view)" "$before"
	done

	# What stays behind keeps its directory.
	new_session 'mkdir -p d o; echo f >d/f; echo f >o/f'
	in_box 'echo more >>d/f; echo n >d/n; rm -r o; mkdir o; echo n >o/n'
	check "commit of a part ($HB_STRATEGY)" hb commit -y --only d/f @s
	like 'the rest is in the layer' "$(upper)" './d ./d/n ./o *./o/n '
	is 'the rest of a commit is pending' "$(names)" 'A d/n,D o/f,A o/n,'
	check 'undo of it' hb undo @s
	is 'all is pending' "$(names)" 'M d/f,A d/n,D o/f,A o/n,'

	# A directory without write permission for its owner.
	new_session 'mkdir d; echo f >d/f; chmod 555 d'
	in_box 'chmod 755 d; echo more >>d/f; chmod 555 d'
	pending=$(names)
	check "commit in a closed directory ($HB_STRATEGY)" hb commit -y @s
	check 'undo in it' hb undo @s
	is 'the same is pending again' "$(names)" "$pending"
	is 'with its mode' "$(in_box 'stat -c %a d') $(stat -c %a "$project/d")" '555 555'
done
finish
