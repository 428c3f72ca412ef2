#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# V19: the nodes in /dev are the host's.  They can be used, not changed, which
# matters to root, who owns them.
# shellcheck disable=SC2154 # set in lib/box.sh
. "$HB_TESTS/lib/box.sh"

for node in null zero full random urandom tty; do
	check_fails "V19 /dev/$node cannot be changed" inside sh -c \
		"chmod $(stat -c %a "/dev/$node") /dev/$node 2>/dev/null"
done
says 'control: devices can be written and read' 4 inside sh -c \
	'head -c 4 /dev/zero | tee /dev/null | wc -c'
says 'control: a new terminal can be had and changed' 600 inside python3 -c '
import os
name = os.ttyname(os.openpty()[1])
os.chmod(name, 0o600)
print(oct(os.stat(name).st_mode & 0o777)[2:])'
done_testing
