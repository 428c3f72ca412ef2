#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --unshare-* --share-net --uid --gid --hostname, by the namespaces' inodes.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/bwrap.sh
. "$HB_TESTS/lib/bwrap.sh"

own() {
	readlink "/proc/self/ns/$1"
}

# inside KIND ARGUMENTS...
inside() {
	inside_kind=$1
	shift
	box "$@" readlink "/proc/self/ns/$inside_kind" 2>&1
}

# is_new NAME KIND ARGUMENTS...: the box has a namespace of its own.
is_new() {
	is_new_name=$1
	shift
	is_new_got=$(inside "$@")
	differs "$is_new_name" "$is_new_got" "$(own "$1")"
	like "$is_new_name, and it has one" "$is_new_got" "$1:\\[*\\]"
}

# is_shared NAME KIND ARGUMENTS...
is_shared() {
	is_shared_name=$1
	shift
	is "$is_shared_name" "$(inside "$@")" "$(own "$1")"
}

for kind in ipc pid net uts cgroup; do
	is_new "--unshare-$kind" "$kind" "--unshare-$kind"
	is_shared "$kind is shared otherwise" "$kind"
	is_new "--unshare-all has $kind" "$kind" --unshare-all
done
is_new 'mnt is always new' mnt
is_new '--unshare-user' user --unshare-user
is_new '--unshare-user-try' user --unshare-user-try
is_new '--unshare-all has user' user --unshare-all
is_new '--unshare-cgroup-try' cgroup --unshare-cgroup-try
if [ "$HB_MODE" = root ]; then
	is_shared 'root keeps the user namespace' user
else
	is_new 'others always get a user namespace' user
fi

is_shared '--share-net after --unshare-all' net --unshare-all --share-net
is_new '--share-net leaves the rest' ipc --unshare-all --share-net
is_new '--share-net before --unshare-all is nothing' net \
	--share-net --unshare-all
is_shared '--share-net after --unshare-net' net --unshare-net --share-net

sees '--unshare-net has a loopback that works' ok --unshare-net python3 -c '
import socket
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
print("ok")'
is '--unshare-net has no route out' \
	"$(box --unshare-net sed 1d /proc/self/net/route 2>&1)" ''

sees '--unshare-pid: the command is process 2' 2 \
	--unshare-pid sh -c 'echo $$'
sees '--unshare-pid: nobody else is seen' '1 2 ' --unshare-pid --proc /proc \
	sh -c 'cd /proc; for p in [0-9]*; do echo -n "$p "; done'

ids() {
	box "$@" sh -c 'echo "$(id -u) $(id -g)"' 2>&1
}
is 'ids are as outside' "$(ids)" "$(id -u) $(id -g)"
is '--uid' "$(ids --unshare-user --uid 4711)" "4711 $(id -g)"
is '--gid' "$(ids --unshare-user --gid 4712)" "$(id -u) 4712"
is '--uid 0 --gid 0' "$(ids --unshare-user --uid 0 --gid 0)" '0 0'
is '--uid with --dev' "$(ids --unshare-user --uid 4711 --dev /dev)" \
	"4711 $(id -g)"
is 'one id is mapped' \
	"$("$HB_BWRAP" --ro-bind / / --unshare-user --uid 4711 \
		cat /proc/self/uid_map | tr -s ' ')" \
	" 4711 $(id -u) 1"
is '--uid twice: the last' "$(ids --unshare-user --uid 1 --uid 4711)" \
	"bwrap: Only the last --uid option will take effect
4711 $(id -g)"
if [ "$HB_MODE" = root ]; then
	refuses '--uid needs a map' \
		'Specifying --uid requires --unshare-user or --userns' \
		--uid 4711 true
	refuses '--gid needs a map' \
		'Specifying --gid requires --unshare-user or --userns' \
		--gid 4711 true
	is '--uid 0 of root needs none' "$(ids --uid 0 --gid 0)" '0 0'
fi

sees '--hostname' 'inside.test' --unshare-uts --hostname inside.test uname -n
sees '--hostname twice: the last' \
	'bwrap: Only the last --hostname option will take effect
second' --unshare-uts --hostname first --dir /mnt/x --hostname second uname -n
is 'the name outside stays' "$(uname -n)" "$(cat /proc/sys/kernel/hostname)"
unlike 'the name outside is not that one' "$(uname -n)" '*inside.test*'
done_testing
