#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# System calls that reach around the view: each is refused inside.  The control
# is the same call outside, where something else than the filter answers it.
. "$HB_TESTS/lib/box.sh"

./probe calls >outside
inside ./probe calls all >inside.out 2>&1
while read -r threat name verdict; do
	case $verdict in
	EPERM | ENOSYS) pass "$threat $name is refused" ;;
	*) fail "$threat $name is refused" "$verdict" ;;
	esac
done <inside.out
is 'every call was tried' "$(wc -l <inside.out)" \
	"$(($(wc -l <outside) + 3))"

# What the kernel would not refuse by itself is what shows that the filter did.
differ=$(grep -cvE ' (EPERM|ENOSYS)$' outside)
if [ "$differ" -gt 35 ]; then
	pass 'control: outside most of them get further'
else
	fail 'control: outside most of them get further' "$(cat outside)"
fi

for flag in user:0x10000000 mount:0x20000 pid:0x20000000 net:0x40000000 \
	ipc:0x8000000 uts:0x4000000 cgroup:0x2000000; do
	says "V12 clone() makes no ${flag%:*} namespace" EPERM \
		inside ./probe clone "${flag#*:}"
done
says 'V12 clone3() is not there, so that libc falls back' ENOSYS \
	inside ./probe clone3
says 'clone() without a namespace works' allowed inside ./probe clone 0
says 'control: clone3() is there outside' allowed ./probe clone3
case $HB_MODE in
root) ;;
*)
	says 'control: outside a user namespace can be made' allowed \
		./probe clone 0x10000000
	;;
esac

says 'V13 the calls of i386 are not there' ENOSYS inside ./probe foreign int80
says 'V13 the calls of x32 are not there' ENOSYS inside ./probe foreign x32
says 'V13 numbers nobody knows are not there' ENOSYS \
	inside ./probe foreign beyond

# unix 1, inet 2, ax25 3, netlink 16, packet 17, rds 21, tipc 30, bluetooth 31,
# alg 38, vsock 40, xdp 44; the second column is the type, the third the
# protocol.
for socket in 3:5:0 15:3:2 17:3:3 21:5:0 30:1:0 31:1:0 38:5:0 40:1:0 44:3:0; do
	# shellcheck disable=SC2046 # three words
	says "V17 no socket of family ${socket%%:*}" EAFNOSUPPORT \
		inside ./probe socket $(echo "$socket" | tr : ' ')
done
says 'V17 no audit netlink socket' EPROTONOSUPPORT inside ./probe socket 16 3 9
says 'V17 no packet socket by its old name' EAFNOSUPPORT \
	inside ./probe socket 2 10 3
for socket in '1 1 0' '2 1 0' '10 2 0' '16 3 0'; do
	# shellcheck disable=SC2086 # three words
	says "a socket that programs need: $socket" allowed \
		inside ./probe socket $socket
done
says 'control: outside another netlink socket can be had' allowed \
	./probe socket 16 3 15
says 'V17 inside it cannot' EPROTONOSUPPORT inside ./probe socket 16 3 15

says 'V6 a debugger works inside' allowed inside ./probe ptrace-child
says 'V6 ... unless it is taken away' EPERM \
	"$HB_BIN" run --ephemeral -q --no-ptrace -- ./probe ptrace-child
done_testing
