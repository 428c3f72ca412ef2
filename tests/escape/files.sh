#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files outside of the view, and files that are more than files.
. "$HB_TESTS/lib/box.sh"

elsewhere=$(mktemp -d)
echo secret >"$elsewhere/secret"
echo original >"$elsewhere/file"

says 'V4 nothing is above the root' closed inside ./probe root
says 'V4 the working directory is the workspace' "$work" inside pwd
says 'I9 a directory that was not asked for is not there' ENOENT \
	inside ./probe open r "$elsewhere/secret"
says 'control: it can be read outside' allowed \
	./probe open r "$elsewhere/secret"
ln -s "$elsewhere/secret" link
says 'I9 a link to it leads nowhere' ENOENT inside ./probe open r link
says 'I9 nor by way of /proc' ENOENT \
	inside ./probe open r "/proc/self/root$elsewhere/secret"
says 'I9 nor by way of the parents' ENOENT \
	inside ./probe open r "../../../../../../../../../..$elsewhere/secret"

# V4: 0, 1 and 2 are the caller's and belong to the host's mounts.  What the
# caller opened for reading must not become writable by opening it again.
says 'I14 standard input can be read' original \
	inside cat <"$elsewhere/file"
for name in /dev/stdin /proc/self/fd/0 /dev/fd/0; do
	verdict=$(inside ./probe open w "$name" <"$elsewhere/file" 2>&1)
	is "I14 $name cannot be opened for writing" "$verdict" EROFS
done
says 'I14 it can be opened for reading again' original \
	inside cat /dev/stdin <"$elsewhere/file"
inside sh -c 'echo changed >/dev/stdin' <"$elsewhere/file" 2>/dev/null
is 'I14 the file behind standard input is as before' \
	"$(cat "$elsewhere/file")" original
says 'control: outside it can be written' allowed \
	./probe open w /dev/stdin <"$elsewhere/file"
inside sh -c 'echo told >/dev/stdout' >"$elsewhere/out"
is 'what the caller opened for writing can be written' \
	"$(cat "$elsewhere/out")" told

# A directory there would be a door: everything below it.
status=0
got=$(inside sh -c 'echo ran; ./probe leave 0; cat secret
	cat /proc/self/fd/0/secret' <"$elsewhere" 2>&1) || status=$?
unlike 'V4 a directory as standard input is no way out' "$got" '*secret*'
is 'V4 and the run says so' "$status" 125
is 'control: outside it is' "$(sh -c 'cat /proc/self/fd/0/secret' \
	<"$elsewhere")" secret

# V18: what acts on the whole machine.
for file in /proc/sys/kernel/core_pattern /proc/sys/vm/drop_caches \
	/proc/sysrq-trigger /proc/sys/kernel/hostname \
	/proc/sys/user/max_user_namespaces; do
	verdict=$(inside ./probe open w "$file" 2>&1)
	case $verdict in
	EROFS | EACCES | ENOENT) pass "V18 $file cannot be written" ;;
	*) fail "V18 $file cannot be written" "$verdict" ;;
	esac
done
for file in /sys/kernel /sys/fs/cgroup /proc/sys/fs/binfmt_misc/register \
	/sys/power/state; do
	says "V18 no $file" ENOENT inside ./probe open path "$file"
done
for file in /proc/kcore /proc/kmsg /dev/mem /dev/kmsg /dev/sda /dev/vda; do
	verdict=$(inside ./probe open r "$file" 2>&1)
	case $verdict in
	EACCES | EPERM | ENOENT) pass "V18 $file cannot be read" ;;
	*) fail "V18 $file cannot be read" "$verdict" ;;
	esac
done
says 'V18 no core file' core=1,1 inside ./probe limits

# V19: devices.
says 'V19 /dev has what a program needs and no more' \
	'core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero' \
	inside sh -c 'echo $(ls /dev)'
for device in '1 3' '1 1' '0 0' '8 0'; do
	# shellcheck disable=SC2086 # two words
	says "V19 no device $device can be made" EPERM \
		inside ./probe mknod "$work/node" $device
done
if [ "$HB_MODE" = root ]; then
	mknod node c 1 5
	says 'V19 a device in the workspace does not work' EACCES \
		inside ./probe open r "$work/node"
	says 'control: it does outside' allowed ./probe open r node
fi

# V20: programs that would change who runs them.
if [ "$HB_MODE" = root ]; then
	cp probe other
	chown 65534:65534 other
	chmod 6755 other
	like 'control: outside a setuid program changes the user' \
		"$(./other ids)" '*uid=0,65534,65534 gid=0,65534,65534*'
	says 'V20 inside it does not' 'uid=0,0,0 gid=0,0,0' \
		inside ./other ids
fi
unlike 'V20 every mount is nosuid' "$(inside cat /proc/self/mountinfo |
	awk '$6 !~ /nosuid/ && $5 !~ /^\/dev\//')" '*?*'
unlike 'V19 every mount but /dev is nodev' "$(inside cat /proc/self/mountinfo |
	awk '$6 !~ /nodev/ && $5 !~ /^\/dev(\/|$)/')" '*?*'
like 'V20 nobody gains privileges' "$(inside ./probe privileges)" \
	'*no_new_privs=1'
rm -r "$elsewhere"
done_testing
