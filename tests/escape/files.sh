#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files that are more than files: 0, 1 and 2, devices, setuid programs.  What else
# is tried is in the table `vectors`.
. "$HB_TESTS/lib/box.sh"

elsewhere=$(mktemp -d)
echo secret >"$elsewhere/secret"
echo original >"$elsewhere/file"

says 'V4 the working directory is the workspace' "$work" inside pwd

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
is 'V4 a run with a directory as standard input is refused' "$status" 125
is 'control: outside it is' "$(sh -c 'cat /proc/self/fd/0/secret' \
	<"$elsewhere")" secret

# V19: devices.
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
rm -r "$elsewhere"
done_testing
