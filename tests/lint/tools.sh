#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: gcc readelf meson
#
# The scripts behind the Makefile, with tables and package tools of our own.
. "$HB_TESTS/lib/tap.sh"

# --- ensure-deps: a table of four packages, an apt-get that writes down what
# it is asked for and "installs" by creating the commands.
toy=$TMPDIR/toy
mkdir -p "$toy/tools" "$toy/bin" "$toy/etc"
cp "$HB_SOURCE/tools/ensure-deps" "$toy/tools"
cat >"$toy/tools/deps" <<END
# a comment
one  pkg-a       cmd-a
one  pkg-b       $toy/etc/b*.h
one  new-c|old-c cmd-c
one  pkg-d?      cmd-d
two  pkg-e       cmd-e
END
cat >"$toy/bin/apt-get" <<END
#!/bin/sh
echo "\$DEBIAN_FRONTEND \$*" >>"$toy/asked"
case " \$* " in
*' install '*) touch "$toy/bin/cmd-a" "$toy/bin/cmd-c" "$toy/etc/b-1.h" "$toy/bin/cmd-d"
	chmod +x "$toy"/bin/cmd-* ;;
esac
END
cat >"$toy/bin/apt-cache" <<'END'
#!/bin/sh
[ "$2" != new-c ]
END
cat >"$toy/bin/id" <<END
#!/bin/sh
cat "$toy/uid"
END
chmod +x "$toy"/bin/*
for tool in sh cat sed sort tr grep mktemp rm env dirname touch chmod; do
	ln -s "$(command -v "$tool")" "$toy/bin/$tool"
done

ensure() {
	(
		PATH=$toy/bin
		export PATH
		sh "$toy/tools/ensure-deps" "$@" 2>&1
	)
}

echo 1000 >"$toy/uid"
is 'an ordinary user is told what is missing' "$(ensure one)" \
	'missing packages: new-c pkg-a pkg-b pkg-d
fix: apt-get install --no-install-recommends new-c pkg-a pkg-b pkg-d'
check_exit 'a missing dependency is a failure' 1 ensure one
check_fails 'nothing was installed' test -e "$toy/asked"

echo 0 >"$toy/uid"
is 'root installs, and says so in one line' "$(ensure one)" \
	'installing: new-c pkg-a pkg-b pkg-d'
is 'with these calls' "$(cat "$toy/asked")" \
	'noninteractive -qq -o DPkg::Lock::Timeout=300 update
noninteractive -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends old-c pkg-a pkg-b pkg-d'
rm "$toy/asked"
is 'what is there is not mentioned' "$(ensure one)" ''
check_fails 'nothing is installed where nothing is missing' test -e "$toy/asked"
is 'what did not come is told' "$(ensure two | tail -n 1)" \
	'installed, but still not found: pkg-e '
rm "$toy/bin/cmd-d"
echo 1000 >"$toy/uid"
check 'a user can do without what is optional' ensure one
printf '#!/bin/sh\n[ "$1" != -n ] || shift\nexec "$@"\n' >"$toy/bin/sudo"
chmod +x "$toy/bin/sudo"
ln -s /bin/true "$toy/bin/true"
is 'with sudo a user installs' "$(ensure one)" 'installing: pkg-d'
rm -r "$toy"

# --- assemble: what must be static is refused if it is not.
mkdir -p "$toy/tools" "$toy/build/musl" "$toy/build/main"
cp "$HB_SOURCE/tools/assemble" "$toy/tools"
cat >"$toy/tools/executables" <<'END'
# tree built goes-to kind
musl a  bin/a  static
main b  libexec/b  dynamic
END
echo 'int main(void) { return 7; }' >"$toy/a.c"
gcc -o "$toy/build/main/b" "$toy/a.c"
check_fails 'a missing executable is a failure' "$toy/tools/assemble" "$toy/build"
gcc -o "$toy/build/musl/a" "$toy/a.c"
check_fails 'a dynamic run path is refused' "$toy/tools/assemble" "$toy/build"
check_fails 'a dynamic run path is not put in place' test -e "$toy/build/bin/a"
gcc -static-pie -o "$toy/build/musl/a" "$toy/a.c"
check 'a static one is taken' "$toy/tools/assemble" "$toy/build"
check_exit 'a static run path runs' 7 "$toy/build/bin/a"
check_exit 'a dynamic rest runs' 7 "$toy/build/libexec/b"
inode=$(stat -c %i "$toy/build/bin/a")
"$toy/tools/assemble" "$toy/build"
is 'what did not change is not replaced' "$(stat -c %i "$toy/build/bin/a")" "$inode"
gcc -static -o "$toy/build/musl/a" "$toy/a.c"
"$toy/tools/assemble" "$toy/build"
unlike 'what changed is a new file' "$(stat -c %i "$toy/build/bin/a")" "$inode"
rm -r "$toy"
# --- configure: for Linux alone.
mkdir "$TMPDIR/elsewhere"
cat >"$TMPDIR/elsewhere/cross" <<'END'
[binaries]
c = 'gcc'
ar = 'ar'
[host_machine]
system = 'freebsd'
cpu_family = 'x86_64'
cpu = 'x86_64'
endian = 'little'
END
like 'I13 a build for another system is refused' \
	"$(HOME=$TMPDIR/elsewhere meson setup --cross-file "$TMPDIR/elsewhere/cross" "$TMPDIR/elsewhere/b" \
		"$HB_SOURCE" 2>&1; echo "status $?")" \
	'*holdback is for Linux, and this builds for freebsd*status 1'
rm -r "$TMPDIR/elsewhere"
done_testing
