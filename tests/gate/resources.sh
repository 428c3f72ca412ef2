#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
#
# Q17: the gate covers every resource, by what it is: a repository's directory
# and an agent's state are known by their names, which no path in them has.
. "$HB_TESTS/lib/txn.sh"

# found: severity, path below the directory of the test, and rule.
found() {
	hb gate @s 2>&1 | sed -n "s,^\([a-z]*\): $work/\([^ ]*\): .* \[\([a-z-]*\)\]$,\1 \2 \3,p" |
		tr '\n' ','
}

other=$work/other
mkdir -p "$project" "$other"
git init -q "$project/repo"
hb create s --cow "$project" --cow "$other" >/dev/null
in_box "echo x >ok; echo x >'$other/.envrc'; echo x >'$other/package.json'"
is 'findings of another resource have its path' "$(found)" \
	'ask other/.envrc environment,ask other/package.json install-script,'
check_exit 'findings of another resource stop the commit of all' 4 hb commit -y @s
check_fails 'nothing is committed' test -e "$project/ok"
printf 'rule = environment\nseverity = deny\n' >"$other/.holdback.rules"
check_exit 'rules of one resource are about that one' 4 hb commit -y --allow environment \
	--allow install-script @s
in_box "mv '$other/.envrc' ."
like 'rules of one resource do not count for another' "$(found)" 'ask p/.envrc environment,*'
hb cleanup -y @s >/dev/null

hb create s --cow "$project/repo/.git" >/dev/null
(cd "$project/repo" && "$HB_BIN" exec --state-dir "$state" @s -- sh -c '
	cd '"'$project/repo/.git'"' && echo x >hooks/pre-commit && git config core.pager b &&
	git config branch.a.b c && head -c 1000 /dev/urandom >objects/x && echo x >HEAD~')
is 'a repository by itself' "$(hb gate @s | sed -n 's/^\([a-z]*\): \([^ :]*\).* \[\(.*\)\]$/\1 \2 \3/p' |
	tr '\n' ',')" 'ask config git-config,ask hooks/pre-commit git-hook,'
hb cleanup -y @s >/dev/null
finish
