#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Four hundred marks over each other, and not one more.
. "$HB_TESTS/lib/txn.sh"

new_session 'echo one >f; mkdir d; echo x >d/x'
in_box 'echo 0 >f; echo 0 >n0'
i=1
while [ "$i" -le 400 ]; do
	hb mark @s >/dev/null || bail "mark $i"
	case $i in
	1 | 100 | 200 | 399) in_box "echo $i >f; echo $i >n$i" || bail "box $i" ;;
	esac
	i=$((i + 1))
done
is 'all of them add up' "$(names)" 'M f,A n0,A n1,A n100,A n200,A n399,'
is 'in the view as well' "$(in_box 'cat f n0 n399')" "$(printf '399\n0\n399')"
check_exit 'one more is refused' 10 hb mark @s
is 'a refused mark does no harm' "$(names)" 'M f,A n0,A n1,A n100,A n200,A n399,'
check 'back to the hundredth' hb rollback -y --to m100 @s
is 'gives that' "$(names)" 'M f,A n0,A n1,'
check 'undo' hb undo @s
check 'commit' hb commit -y @s
is 'all is real' "$(cd "$project" && cat f n0 n1 n100 n200 n399 | tr '\n' ' ')" \
	'399 0 1 100 200 399 '
is 'nothing is left' "$(names)" ''
finish
