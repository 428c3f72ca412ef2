#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3 unshare
# V18: where core_pattern is a pipe, the host's handler runs as root on what the
# box made, and a limit of 0 does not stop that: only the limit 1 does, see
# core(5).  So nobody inside may set it to anything else.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/box.sh
. "$HB_TESTS/lib/box.sh"

cat >limit.py <<'PYTHON'
import ctypes, os, resource, struct
core = resource.RLIMIT_CORE
call = ctypes.CDLL(None, use_errno=True).syscall
prlimit, setrlimit = {"x86_64": (302, 160), "aarch64": (261, 164)}[os.uname().machine]
zero = struct.pack("QQ", 0, 0)
wide = ctypes.c_uint64(core | 1 << 32)
print(*resource.getrlimit(core))
resource.setrlimit(core, (0, 0))
call(prlimit, 0, wide, zero, None)
call(setrlimit, wide, zero)
call(prlimit, 0, core, zero, None)
call(setrlimit, core, zero)
print(*resource.getrlimit(core))
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
PYTHON
# A hard limit of 0 that the caller has cannot be raised again.
want=1
[ "$(sh -c 'ulimit -H -c')" != 0 ] || want=0
for option in --no-ptrace --allow-nested; do
	is "V18 $option: no core file, no handler, and it stays so" "$("$HB_BIN" \
		run --ephemeral -q $option -- python3 limit.py 2>/dev/null)" "$want $want
$want $want
64 64"
done
says 'a script that switches core files off goes on' went \
	inside sh -c 'ulimit -c 0 && echo went'
is 'control: outside it can be lowered' "$(python3 limit.py | sed -n 2p)" '0 0'
says 'a hard limit of 0 is no reason not to run' ran sh -c \
	'ulimit -c 0; "$HB_BIN" run --ephemeral -q -- echo ran'

# What the host has for a handler, as a mount namespace sees it.  A mount there
# also keeps the run from having a /proc, which is said after this.
handled_by() {
	printf '%s\n' "$1" >pattern
	apart=-m
	[ "$HB_MODE" = root ] || apart=-Urm
	unshare "$apart" sh -c 'mount --bind pattern /proc/sys/kernel/core_pattern &&
		'"$2"' "$HB_BIN" run --ephemeral -q -- true' 2>&1
}
stuck="*weakened: a command that crashes starts the host's core handler*"
like 'V18 a limit of 0 that cannot be changed is said where a handler would run' \
	"$(handled_by '|/bin/handler' 'ulimit -c 0 &&')" "$stuck"
unlike 'not where there is none' "$(handled_by core 'ulimit -c 0 &&')" "$stuck"
if [ "$want" = 1 ]; then
	unlike 'a limit of 0 is not said where it holds the handler back' \
		"$(handled_by '|/bin/handler' '')" "$stuck"
fi
done_testing
