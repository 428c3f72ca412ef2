#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fifos, setuid, setgid and file capabilities reach the real tree only if asked
# for, sockets and devices never, and undo takes them back.
. "$HB_TESTS/lib/txn.sh"

# listed: what a commit that is refused says of the paths, on one line.
listed() {
	hb commit -y "$@" @s 2>&1 >/dev/null |
		sed -n 's/^\(ask\|deny\): \([^:]*\):.* \[\([a-z-]*\)\]$/\2=\3/p' |
		tr '\n' ','
}

# xattr PATH [NAME VALUE]: sets it, value in hexadecimal, or prints capabilities.
xattr() {
	python3 -c 'if True:
		import os, sys
		path, *set = sys.argv[1:]
		if set:
		    os.setxattr(path, set[0], bytes.fromhex(set[1]))
		else:
		    print(os.getxattr(path, "security.capability").hex())' "$@"
}

new_session '
	echo a >a; echo old >old; chmod 4755 old; mkdir d; echo k >d/k
'
before=$(digest "$project")
in_box '
	cp a suid; chmod 4755 suid; cp a sgid; chmod 2755 sgid
	mkdir new; mkfifo -m 640 new/pipe; touch -d "2001-02-03 04:05:06.7" new/pipe
	cp a new/both; chmod 6711 new/both; touch -d "2002-02-03 04:05:06.7" new
	chmod u+s d/k; cp a sticky; chmod 1644 sticky; mkdir -m 2775 shared
	touch -d "2003-01-01 00:00:00.5" old
'
check_exit 'what has to be asked for is refused with [4]' 4 hb commit -y @s
is 'every path is listed, and why' "$(listed)" \
	'd/k=setid,new/both=setid,new/pipe=special,sgid=setid,suid=setid,'
is 'an option takes its own off the list' "$(listed --special)" \
	'd/k=setid,new/both=setid,sgid=setid,suid=setid,'
is '--setid takes its own changes off the list' "$(listed --setid)" 'new/pipe=special,'
like 'what can be done is said' "$(hb commit -y @s 2>&1)" \
	'*setuid, setgid or file capabilities*fix: *--allow RULE*--except GLOB*'
like 'a dry run says so, too' "$(hb commit -n @s 2>&1)" '*ask: suid*'
like 'status says it before' "$(hb status @s)" '*A new/pipe
    a fifo, committed only with --special*'
like 'the document of status says what has to be asked for' "$(hb status --json @s)" '*"asks":"setid"*'
is 'nothing changed' "$(digest "$project")" "$before"

check 'they can be left out' hb commit -y --except pipe --except 'sgid' \
	--except both --except suid --except d/k @s
is 'the sticky bit is none of them' "$(stat -c %a "$project/sticky")" 1644
is 'a directory that hands its group down asks nothing' \
	"$(stat -c %a "$project/shared")" 2775
is 'the time of a file that was setuid before asks nothing' \
	"$(stat -c %a.%Y "$project/old")" "4755.$(date -d '2003-01-01' +%s)"
before=$(digest "$project")

check 'commit --special --setid' hb commit -y --special --setid @s
is 'the fifo arrives with mode and time' \
	"$(stat -c '%F %a %.1Y' "$project/new/pipe")" \
	"fifo 640 $(date -d '2001-02-03 04:05:06' +%s).7"
is 'the bits arrive' "$(cd "$project" && stat -c %a suid sgid new/both d/k |
	tr '\n' ' ')" '4755 2755 6711 4644 '
after=$(digest "$project")
check 'undo takes them back' hb undo @s
is 'all of them' "$(digest "$project")" "$before"
check 'redo' hb redo @s
is 'brings them again' "$(digest "$project")" "$after"

in_box 'echo more >>a; python3 -c "import socket
socket.socket(socket.AF_UNIX).bind(\"new/sock\")"'
check_exit 'a socket is refused whatever is asked for' 4 \
	hb commit -y --special --setid @s
is 'a socket is listed whatever is asked for' "$(listed --special --setid)" 'new/sock=device,'
check 'it can be left out' hb commit -y --except sock @s
check_fails 'then it is not there' test -e "$project/new/sock"
is 'a commit without the socket brings everything else' "$(tail -n1 "$project/a")" more

# CAP_NET_BIND_SERVICE, permitted, for a file that only its host can give it to.
cap=0000000200040000000000000000000000000000
if xattr "$project/a" security.capability "$cap" 2>/dev/null; then
	new_session 'echo c >c; xattr c security.capability "$cap"'
	in_box 'chmod 700 c'
	check_exit 'file capabilities are refused' 4 hb commit -y @s
	is 'the real file is as it was' "$(stat -c %a "$project/c")" 644
	check 'commit --setid with file capabilities' hb commit -y --setid @s
	is 'the file arrived' "$(stat -c %a "$project/c")" 700
	like 'with its capabilities' "$(xattr "$project/c")" '??0000020004*'
	check 'undo' hb undo @s
	is 'undo restores the old capabilities' \
		"$(stat -c %a "$project/c") $(xattr "$project/c")" "644 $cap"
fi
finish
