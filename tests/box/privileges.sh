#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a command is: the same user, and nothing beyond that.
. "$HB_TESTS/lib/box.sh"

says 'I8 every capability set is empty' \
	'effective=000000000 permitted=000000000 inheritable=000000000 bounding=0 ambient=0 no_new_privs=1' \
	inside ./probe privileges
uid=$(id -u)
gid=$(id -g)
says 'the user is the same as outside' \
	"uid=$uid,$uid,$uid gid=$gid,$gid,$gid" inside ./probe ids
says 'V4 nothing above 2 is open' '0 1 2' inside ./probe fds
says 'V4 the root is closed' closed inside ./probe root
like 'V5 a filter is in force' "$(inside cat /proc/self/status)" '*Seccomp:	2*'

# Each namespace is another one than ours.
for space in user mnt pid net ipc uts cgroup; do
	got=$(inside readlink /proc/self/ns/$space)
	case $got in
	"$(readlink /proc/self/ns/$space)" | '')
		fail "I3 the $space namespace is a new one" "$got"
		;;
	*) pass "I3 the $space namespace is a new one" ;;
	esac
done
says 'I4 the network is a loopback interface' 'lo' inside sh -c \
	'sed -n "s/^ *\([a-z0-9]*\):.*/\1/p" /proc/net/dev'
says 'V12 no user namespace, by its limit as well' 0 \
	inside cat /proc/sys/user/max_user_namespaces

# 0, 1 and 2 that are closed must not become something of ours.
says 'without standard input there is an empty one' /dev/null sh -c \
	'"$HB_BIN" run --ephemeral -q -- readlink /proc/self/fd/0 <&-'
status=0
"$HB_BIN" run --ephemeral -q -- sh -c 'exit 3' <&- >&- 2>&- || status=$?
is 'without 0, 1 and 2' "$status" 3
done_testing
