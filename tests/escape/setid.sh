#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# V27: where writes are real a command leaves no program behind that makes others
# of the host the user, or root.  What is held back is looked at by commit.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/box.sh
. "$HB_TESTS/lib/box.sh"

elsewhere=$(mktemp -d)
cat >make.py <<'PYTHON'
import ctypes, os, stat, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
call = lambda *words: libc.syscall(*words)
here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
def new(name):
    os.close(os.open(name, os.O_WRONLY | os.O_CREAT, 0o755))
    return name
def temporary(mode):
    fd = os.open(".", os.O_WRONLY | os.O_TMPFILE, mode)
    os.link("/proc/self/fd/%d" % fd, "temporary%o" % mode, follow_symlinks=True)
def openat2(mode):
    how = struct.pack("QQQ", os.O_WRONLY | os.O_CREAT, mode, 0)
    call(437, here, b"openat2-%o" % mode, how, 24)
for mode in (0o4755, 0o2755, 0o6755):
    for name, make in (
        ("chmod", lambda n: os.chmod(new(n), mode)),
        ("fchmod", lambda n: os.fchmod(os.open(new(n), os.O_RDONLY), mode)),
        ("fchmodat", lambda n: os.chmod(new(n), mode, dir_fd=here)),
        ("fchmodat2", lambda n: call(452, here, new(n).encode(), mode, 0)),
        ("open", lambda n: os.open(n, os.O_WRONLY | os.O_CREAT, mode)),
        ("mknod", lambda n: os.mknod(n, stat.S_IFREG | mode)),
        ("tmpfile", lambda n: temporary(mode)),
        ("openat2", lambda n: openat2(mode)),
    ):
        try:
            os.umask(0)
            make("%s-%o" % (name, mode))
        except OSError:
            pass
PYTHON
# planted DIRECTORY: how many files there have such a mode.
planted() {
	find "$1" -type f -perm /6000 | wc -l
}
(cd "$elsewhere" && python3 "$work/make.py")
like 'control: outside all of them can be made' "$(planted "$elsewhere")" '2[0-4]'
rm -r "$elsewhere" && mkdir "$elsewhere"

box() {
	"$HB_BIN" run -q "$@" 2>/dev/null
}
box --ephemeral --rw "$elsewhere" -- sh -c 'cd "$1" && python3 "$2"' sh \
	"$elsewhere" "$work/make.py"
is 'V27 none with --rw' "$(planted "$elsewhere")" 0
unlike 'V27 files with --rw are there without their setuid bits' "$(ls "$elsewhere")" ''
rm -r "$elsewhere" && mkdir "$elsewhere"
mkdir direct && cd direct || bail 'no directory'
cp ../make.py .
box --direct -- python3 make.py
is 'V27 none with --direct' "$(planted .)" 0
cd .. || bail 'no directory'
mkdir out
box --ephemeral --export out -- sh -c 'cd out && python3 ../make.py'
is 'V27 none with --export' "$(planted out)" 0
mkdir -p "$HOME/data"
box --ephemeral --data "$HOME/data" -- sh -c 'cd ~/data && python3 "$1"' sh \
	"$work/make.py"
is 'V27 none with --data' "$(planted "$HOME/data")" 0
rm -r "$HOME/data"
says 'what is held back can have them' 'rwsr-xr-x' inside sh -c \
	': >x && chmod 4755 x && ls -l x | cut -c 2-10'
says 'other modes can be set where writes are real' 750 sh -c \
	'"$HB_BIN" run -q --ephemeral --rw "$1" -- sh -c "cd \$1 && : >x &&
		chmod 750 x && stat -c %a x" sh "$1" 2>/dev/null' sh "$elsewhere"
rm -r "$elsewhere"
done_testing
