#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3 setsid
# --allow-nested takes away landlock's rules for files, under which nobody can
# mount; what it says about signals and sockets stays.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/box.sh
. "$HB_TESTS/lib/box.sh"

[ "$(landlock_version)" -ge 6 ] || skip_all 'landlock has no scopes'

nested() {
	"$HB_BIN" run --ephemeral -q --allow-nested "$@" 2>/dev/null
}

# In a session of its own, as it would reach this test as well.
status=0
setsid -w sh -c 'trap "exit 9" USR1
	"$HB_BIN" run --ephemeral -q --allow-nested -- \
		sh -c "trap : USR1; kill -USR1 0; exit 4"' \
	</dev/null 2>/dev/null || status=$?
is 'V7 a signal for the group does not reach the caller' "$status" 4

cat >service.py <<'PYTHON'
import socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind("\0" + sys.argv[1])
server.listen()
open("up", "w").close()
sys.stdin.read()
PYTHON
mkfifo go
python3 service.py "hb-nested-$$" <go &
service=$!
exec 9>go
wait_until test -e up || bail 'the service does not start'
is 'V8 nor is an abstract socket of the host there' \
	"$(nested --net host -- ./probe connect "@hb-nested-$$")" EPERM
says 'control: it is outside' allowed ./probe connect "@hb-nested-$$"
exec 9>&-
wait "$service"

# root has no capability with which it could map itself once more.
if [ "$HB_MODE" = user ]; then
	is 'control: namespaces can be made and mounts in them' "$(nested -- \
		unshare -Urm sh -c 'mount -t tmpfs none /opt && echo mounted')" mounted
fi
done_testing
