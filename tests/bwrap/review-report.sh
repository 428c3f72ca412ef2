#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# The command of the front end can take hold of pid 1, and so of its socket to
# the supervisor.  A record made by it must not lead the supervisor astray.
# shellcheck disable=SC2154 # set in lib/bwrap.sh
. "$HB_TESTS/lib/bwrap.sh"

# Fails with 77 where the kernel does not let it take the socket.
cat >forge.py <<'PYTHON'
import ctypes, socket, struct, sys
libc = ctypes.CDLL(None)
init = libc.syscall(434, 1, 0)
taken = [libc.syscall(438, init, n, 0) for n in range(3, 16)]
ends = []
for fd in taken:
    try:
        ends.append(socket.socket(fileno=fd))
    except (OSError, ValueError):
        pass
if not ends:
    sys.exit(77)
size = int(sys.argv[2])
record = struct.pack("iii", int(sys.argv[1]), 0, 22)
ends[0].send(record + b"A" * (size - len(record)))
PYTHON

forge() {
	status=0
	got=$(box --proc /proc --unshare-pid python3 forge.py "$@" 2>&1) ||
		status=$?
	if [ "$status" = 77 ]; then
		skip_all 'pid 1 cannot be taken hold of'
	fi
}

# An error whose words have no end: 8 bytes, then struct hb_error.
forge 1 772
is 'a forged error ends the run' "$status" 1
like 'its words end where the field does' "$got" \
	'bwrap: A*A: Invalid argument
fix: *A'
forge 1 12
is 'a record that is too short ends the run' "$status" 1
forge 99 772
is 'an unknown kind of record is passed over' "$status:$got" 0:
done_testing
