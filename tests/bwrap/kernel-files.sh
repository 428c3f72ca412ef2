#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --proc --dev --mqueue: what the kernel shows.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/bwrap.sh
. "$HB_TESTS/lib/bwrap.sh"

# type_of DIR ARGUMENTS...: the type of the topmost file system on DIR.
type_of() {
	type_dir=$1
	shift
	box "$@" sh -c 'while read -r _ _ _ _ dir _ rest; do
		[ "$dir" = "$0" ] || continue
		rest=${rest#*- }
		type=${rest%% *}
	done </proc/self/mountinfo
	echo "$type"' "$type_dir" 2>&1
}

is '--proc is a procfs' "$(type_of /mnt/p --proc /mnt/p)" proc
sees '--proc with --unshare-pid: of the new namespace' '2' \
	--unshare-pid --proc /mnt/p sh -c 'exec readlink /mnt/p/self'
differs '--proc without it: of the old one' \
	"$(box --proc /mnt/p sh -c 'exec readlink /mnt/p/self' 2>&1)" 2
for path in sys sysrq-trigger irq bus; do
	[ -e "/proc/$path" ] || continue
	like "--proc: $path cannot be written" "$(
		box --unshare-pid --unshare-user --proc /mnt/p sh -c '
			test -w "/mnt/p/$0" && echo yes || echo no' "$path" 2>&1
	)" no
	[ "$HB_MODE" = root ] || continue
	is "--proc of root: $path cannot be written" "$(
		box --unshare-pid --proc /mnt/p sh -c '
			test -w "/mnt/p/$0" && echo yes || echo no' "$path" 2>&1
	)" no
done
sees '--proc: what is below sys still reads' "$(cat /proc/sys/kernel/ostype)" \
	--unshare-pid --proc /mnt/p cat /mnt/p/sys/kernel/ostype

# in the order of ls in the C locale
sees '--dev: these and no others' \
	'core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero' \
	--dev /mnt/d sh -c 'cd /mnt/d; LC_ALL=C; echo *' </dev/null
is '--dev is a tmpfs' "$(type_of /mnt/d --dev /mnt/d)" tmpfs
for node in null zero full random urandom tty; do
	sees "--dev: $node is the host's" "$(stat -L -c '%F %t:%T' "/dev/$node")" \
		--dev /mnt/d stat -L -c '%F %t:%T' "/mnt/d/$node"
done
sees '--dev: devices work' 4 --dev /mnt/d \
	sh -c 'head -c 4 /mnt/d/zero | tee /mnt/d/null | wc -c'
for link in stdin:/proc/self/fd/0 stdout:/proc/self/fd/1 \
	stderr:/proc/self/fd/2 fd:/proc/self/fd core:/proc/kcore ptmx:pts/ptmx; do
	sees "--dev: ${link%%:*}" "${link#*:}" --dev /mnt/d \
		readlink "/mnt/d/${link%%:*}"
done
sees '--dev: shm' 'directory 755' --dev /mnt/d stat -c '%F %a' /mnt/d/shm
sees '--dev: shm can be written' '' --dev /mnt/d touch /mnt/d/shm/x
is '--dev: pts is a devpts' "$(type_of /mnt/d/pts --dev /mnt/d)" devpts
sees '--dev: pts is private' 'ptmx' --dev /mnt/d ls /mnt/d/pts
sees '--dev: a new terminal can be had' '/dev/pts/0' --dev /dev python3 -c '
import os
master, slave = os.openpty()
print(os.ttyname(slave))'
sees '--dev: no console without a terminal' no --dev /mnt/d \
	sh -c 'test -e /mnt/d/console && echo yes || echo no' </dev/null
# stdout is what counts: it is a terminal here, and stdin is none.
cat >terminal.py <<'PYTHON'
import os, pty, sys
pid, master = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
text = b""
try:
    while chunk := os.read(master, 4096):
        text += chunk
except OSError:
    pass  # the other side is closed
os.waitpid(pid, 0)
sys.stdout.write(text.decode().replace("\r\n", "\n"))
PYTHON
is '--dev: the console is the terminal' "$(
	python3 terminal.py "$HB_BWRAP" --ro-bind / / --dev /dev \
		sh -c 'tty; test -c /dev/console && echo written >/dev/console'
)" '/dev/console
written'
sees '--dev --proc --tmpfs below a tmpfs' 'd p t' --dev /mnt/d --proc /mnt/p \
	--tmpfs /mnt/t sh -c 'cd /mnt; echo *'

is '--mqueue is one' "$(type_of /mnt/q --unshare-ipc --mqueue /mnt/q)" mqueue
sees '--mqueue: a queue can be made' 'name' --unshare-ipc --mqueue /mnt/q \
	sh -c ': >/mnt/q/name; ls /mnt/q'
sees '--mqueue is of the ipc namespace' '' --unshare-ipc --mqueue /mnt/q \
	ls /mnt/q
done_testing
