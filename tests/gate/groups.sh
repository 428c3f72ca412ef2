#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A directory full of packages that git does not ignore is one line, as severe
# as the severest finding in it.
. "$HB_TESTS/lib/txn.sh"

found() {
	hb gate @s 2>&1 | sed -n 's/^\([a-z]*\): \([^ ]*\): .* \[\([a-z-]*\)\]$/\1 \2 \3/p' |
		tr '\n' ','
}
new_session 'echo x >f'
in_box 'for i in 1 2 3 4 5; do mkdir -p node_modules/p$i/bin node_modules/q/node_modules/r$i
	echo x >node_modules/p$i/bin/run; chmod +x node_modules/p$i/bin/run
	echo "{\"scripts\":{\"postinstall\":\"x\"}}" >node_modules/p$i/package.json; done
	echo x >node_modules/q/node_modules/r1/Makefile; echo x >.envrc
	mkdir -p lib/venv/bin node_modules-not venv; echo x >lib/venv/bin/a
	echo x >lib/venv/bin/b; chmod +x lib/venv/bin/*; echo x >venv/makefile'
is 'each is one line, and a single finding is itself' "$(found)" \
	'ask .envrc environment,warn lib/venv packages,ask node_modules packages,warn venv/makefile build,'
like 'it says how many, and which is the first' "$(hb gate @s)" \
	'*ask: node_modules: packages, which git does not ignore: 11 findings, the first: p1/package.json: *install-script*'
check_exit 'another rule does not allow it' 4 hb commit -y --allow environment \
	--allow install-script @s
check 'its own does' hb commit -y --allow environment --allow packages:node_modules @s
in_box 'echo y >node_modules/p1/package.json; mkfifo node_modules/p1/x'
is 'a single one in a change is itself' "$(hb gate --except x @s | grep -c install-script)" 1
hb cleanup -y @s >/dev/null

# A virtual environment by any name.  Its mark comes after most of its files.
new_session 'mkdir -p old/tools kept empty; echo x >kept/pyvenv.cfg'
in_box 'mkdir -p env39/bin env39/lib/a sub/myenv/bin plain empty/bin
	for i in 1 2 3 4 5; do for d in env39/bin env39/lib/a sub/myenv/bin kept old old/tools plain empty/bin; do
		echo x >$d/x$i; chmod +x $d/x$i; done; done
	for d in env39 sub/myenv old empty; do echo home = /usr/bin >$d/pyvenv.cfg; done
	mkdir plain/pyvenv.cfg; ln -s ../env39/pyvenv.cfg old/tools/pyvenv.cfg'
is 'a virtual environment of any name is one warning' \
	"$(hb gate @s 2>&1 | grep -c ': env39')/$(hb gate @s 2>&1 | grep -c ': sub/myenv')" 1/1
like 'its line says that it is one of packages' "$(hb gate @s 2>&1)" \
	'*warn: env39: packages, which git does not ignore: 10 findings, the first: bin/x1: *'
is 'one that the real directory has is one as well' "$(hb gate @s 2>&1 | grep -c 'warn: kept: .* 5 findings')" 1
is 'one in an old directory that is empty is one warning' "$(hb gate @s 2>&1 | grep ': empty')" \
	"$(hb gate @s 2>&1 | grep 'warn: empty: .* 5 findings')"
is 'a mark that is put into an old directory puts nothing together' \
	"$(hb gate @s 2>&1 | grep -c 'warn: old/.*executable')" 10
is 'neither does a directory of that name' \
	"$(hb gate @s 2>&1 | grep -c 'warn: plain/.*executable')" 5
hb cleanup -y @s >/dev/null

# A real one leads to the python of the system, and its packages may have a .pth.
new_session 'mkdir -p old; echo x >old/f'
if in_box 'python3 -m venv --without-pip tools/env && cd tools/env/lib/python3*/site-packages &&
	echo import x >a.pth' 2>/dev/null; then
	like 'a real virtual environment is one warning' "$(hb gate @s 2>&1)" \
		'warn: tools/env: packages, which git does not ignore: * findings, the first: *'
	check 'a real virtual environment is committed without a question' hb commit -y @s
else
	skip 'a real virtual environment is one warning' 'python3 makes none here'
fi
hb cleanup -y @s >/dev/null

# plant DIRECTORY: the parts of one, by themselves.
plant() {
	echo "mkdir -p $1/bin $1/lib/python3.9/site-packages; echo home = /usr/bin >$1/pyvenv.cfg
		ln -s /usr/bin/python3 $1/bin/python3; echo import x >$1/lib/python3.9/site-packages/a.pth"
}
severities() {
	found | tr , '\n' | sed 's/ .*//' | sort -u | xargs
}
new_session 'echo x >f'
in_box "$(plant new)"
is 'the parts of a new virtual environment are a warning' "$(severities)" warn
hb cleanup -y @s >/dev/null
for plant in 'ln -s /etc new/bin/etc' 'ln -s /etc new/python3' 'echo import x >new/bin/a.pth' \
	'mkdir new/.vscode; echo {} >new/.vscode/tasks.json'; do
	new_session 'echo x >f'
	in_box "$(plant new); $plant"
	is "in a new virtual environment it is a question: $plant" "$(severities)" ask
	hb cleanup -y @s >/dev/null
done
new_session 'mkdir old kept; echo x >old/f; echo home = /usr/bin >kept/pyvenv.cfg'
in_box "$(plant old); $(plant kept)"
is 'a virtual environment in a directory that was there is a question' \
	"$(found | tr , '\n' | grep -c '^ask old/.*\(link-out\|package-config\)$')/$(
		found | tr , '\n' | grep -c '^ask kept packages')" 2/1
hb cleanup -y @s >/dev/null
finish
