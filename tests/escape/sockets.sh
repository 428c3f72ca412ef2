#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# Sockets and memory that other processes of the host offer.
. "$HB_TESTS/lib/box.sh"

# A service of the host: one socket with a name of no file, and two with one, of
# which one lies in the workspace; a segment, a queue and a file of shared
# memory.  It ends when its input does.
cat >service.py <<'PYTHON'
import ctypes, os, socket, sys
name, folder, key = sys.argv[1], sys.argv[2], int(sys.argv[3])
libc = ctypes.CDLL(None, use_errno=True)
sockets = []
for place in ("\0" + name, folder + "/socket", name + ".socket"):
    sockets.append(socket.socket(socket.AF_UNIX))
    sockets[-1].bind(place)
    sockets[-1].listen()
segment = libc.shmget(key, 4096, 0o1666)
open("/dev/shm/" + name, "w").close()
queue = libc.mq_open(("/" + name).encode(), os.O_RDONLY | os.O_CREAT, 0o666, None)
if segment < 0 or queue < 0:
    sys.exit("no segment or no queue")
open("up", "w").close()
sys.stdin.read()
libc.shmctl(segment, 0, None)
libc.mq_unlink(("/" + name).encode())
os.unlink("/dev/shm/" + name)
PYTHON
name=hb-$$
key=$((0x68620000 + $$ % 65536))
elsewhere=$(mktemp -d)
mkfifo go
python3 service.py "$name" "$elsewhere" "$key" <go &
service=$!
exec 9>go
wait_until test -e up || bail 'the service does not start'

says 'V8 an abstract socket of the host is not there' ECONNREFUSED \
	inside ./probe connect "@$name"
says 'control: it is outside' allowed ./probe connect "@$name"
says 'V9 a socket in the workspace answers nobody' ECONNREFUSED \
	inside ./probe connect "$name.socket"
says 'control: it does outside' allowed ./probe connect "$name.socket"
says 'V9 a socket elsewhere is not in the view' ENOENT \
	inside ./probe connect "$elsewhere/socket"
says 'control: it is there outside' allowed ./probe connect "$elsewhere/socket"
for socket in /run/docker.sock /run/dbus/system_bus_socket /run/systemd/private \
	/var/run/docker.sock /tmp/.X11-unix/X0 /run/containerd/containerd.sock; do
	says "V9 no $socket" ENOENT inside ./probe connect "$socket"
done
says 'V9 no directory of sockets has anything in it' '' inside sh -c \
	'ls -A /run /dev/shm /var/run 2>/dev/null | grep -v ":$" | grep .'

says 'V15 a segment of the host is not there' ENOENT inside ./probe shm "$key"
says 'control: it is outside' allowed ./probe shm "$key"
says 'V15 a queue of the host is not there' ENOENT inside ./probe queue "/$name"
says 'control: it is outside' allowed ./probe queue "/$name"
says 'V15 a file of shared memory is not there' ENOENT \
	inside ./probe open r "/dev/shm/$name"
says 'control: it is outside' allowed ./probe open r "/dev/shm/$name"
exec 9>&-
wait "$service"
rm -r "$elsewhere"

# V9: names of sockets in the environment, which also tell where to look.
says 'V9 the environment names no socket' '' env SSH_AUTH_SOCK=/x DISPLAY=:0 \
	DBUS_SESSION_BUS_ADDRESS=unix:path=/x WAYLAND_DISPLAY=w TMUX=/x,1,0 \
	XAUTHORITY=/x GPG_AGENT_INFO=/x VSCODE_IPC_HOOK=/x \
	"$HB_BIN" run --ephemeral -q -- sh -c \
	'env | grep -E "SSH_AUTH|DISPLAY|DBUS|TMUX|XAUTH|GPG_|VSCODE"'

# V10: no descriptor can be passed in where there is no socket to pass it by.
says 'V10 no descriptor is a socket' '' inside sh -c \
	'for fd in /proc/self/fd/*; do readlink $fd; done | grep socket'
says 'V4 nothing above 2 is open' '0 1 2' inside ./probe fds
exec 7</etc/passwd 8</
says 'V4 not even if the caller has something open' '0 1 2' inside ./probe fds
says 'control: outside it is' '0 1 2 7 8' ./probe fds
exec 7<&- 8<&-
done_testing
