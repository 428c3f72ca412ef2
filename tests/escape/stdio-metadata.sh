#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3
# V4: a file that is given to be read lies in the host's mounts, where its owner
# could change its mode, owner, times and attributes, by the descriptor as by
# its magic link.  Inside it lies in a mount that nobody can write.
# shellcheck disable=SC2016,SC2034,SC2154 # expanded inside; set in lib/box.sh
. "$HB_TESTS/lib/box.sh"

elsewhere=$(mktemp -d)
given=$elsewhere/file
echo original >"$given"
chmod 640 "$given"
cat >change.py <<'PYTHON'
import os, sys
fd = int(sys.argv[1])
link = "/proc/self/fd/%d" % fd
st = os.fstat(fd)
for name, change in (
    ("fchmod", lambda: os.fchmod(fd, 0o4777)),
    ("fchown", lambda: os.fchown(fd, st.st_uid, st.st_gid)),
    ("futimens", lambda: os.utime(fd, (1, 1))),
    ("fsetxattr", lambda: os.setxattr(fd, "user.told", b"x")),
    ("dup", lambda: os.fchmod(os.dup(fd), 0o4777)),
    ("chmod", lambda: os.chmod(link, 0o4777)),
    ("utime", lambda: os.utime(link, (1, 1))),
    ("setxattr", lambda: os.setxattr(link, "user.told", b"x")),
    ("again", lambda: os.fchmod(os.open(link, os.O_RDONLY), 0o4777)),
):
    try:
        change()
        print(name)
    except OSError:
        pass
PYTHON

before=$(stat -c '%a %u %g %Y %Z' "$given")
for option in --no-ptrace --allow-nested; do
	is "V4 $option: a file given to be read cannot be changed" \
		"$("$HB_BIN" run --ephemeral -q $option -- python3 change.py 0 \
			<"$given" 2>/dev/null)" ''
done
is 'V4 a file given as descriptor 2 cannot be changed' "$("$HB_BIN" run --ephemeral -q -- \
	python3 change.py 2 2<"$given")" ''
is 'V4 it is what it was' "$(stat -c '%a %u %g %Y %Z' "$given")" "$before"
is 'V4 a session that is kept says the same' "$(XDG_STATE_HOME=$elsewhere \
	"$HB_BIN" run -q -- python3 change.py 0 <"$given" 2>/dev/null)" ''
is 'V4 a device of the host neither' "$(inside sh -c \
	"chmod $(stat -c %a /dev/null) /dev/stdin 2>/dev/null && echo changed" \
	</dev/null)" ''
is 'control: it can outside' \
	"$(python3 change.py 0 <"$given" | tr '\n' ' ')" \
	'fchmod fchown futimens fsetxattr dup chmod utime setxattr again '

# What is given is still what the caller has: also from where he had read to,
# also where it cannot be found by its name.
printf 'one\ntwo\n' >"$given"
is 'what was read before is not read again' "$( (
	read -r line
	inside cat
) <"$given")" "$(python3 -c 'import os, sys
os.lseek(0, 4, 0)
os.execvp("cat", ["cat"])' <"$given")"
exec 9<"$given"
rm "$given"
says 'a file without a name can be read' 'one two ' \
	sh -c '"$HB_BIN" run --ephemeral -q -- tr "\n" " " <&9'
exec 9<&-
rm -r "$elsewhere"
done_testing
