#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: dh dpkg-buildpackage fakeroot lintian
#
# The package for Debian, made of the built tree.
. "$HB_TESTS/lib/tap.sh"

place=$TMPDIR/deb
root=$TMPDIR/root

# packed LIST: the files of the package.
packed() {
	dpkg-deb -c "$place"/*.deb | awk '$1 ~ /^-/ { print $6 }' | sed 's,^\./usr/,,' | sort
}

# wanted: the files that the tables name, where Debian has them.
wanted() {
	awk '!/^#/ && NF { print $3 }' "$HB_SOURCE/tools/executables"
	awk '!/^#/ && NF { print $2 }' "$HB_SOURCE/tools/files" |
		sed 's,share/doc/holdback/,share/doc/holdback/examples/,'
	for page in "$HB_SOURCE"/docs/man/*.scd; do
		name=$(basename "$page" .scd)
		echo "share/man/man${name##*.}/$name.gz"
	done
	cat <<-'END'
		share/bash-completion/completions/holdback
		share/doc/holdback/changelog.Debian.gz
		share/doc/holdback/changelog.gz
		share/doc/holdback/copyright
		share/fish/vendor_completions.d/holdback.fish
		share/holdback/apparmor.d/holdback
		share/lintian/overrides/holdback
		share/zsh/vendor-completions/_holdback
	END
}

"$HB_SOURCE/tools/deb" "$HB_BUILD" "$place" >"$TMPDIR/said" 2>&1
is 'lintian has nothing against the package' "$? $(grep '^[EW]:' "$TMPDIR/said")" '0 '
is 'the package has the files of the tables and no other' "$(packed)" "$(wanted | sort)"
sum=$(sha256sum <"$place/holdback_0.1.0_$(dpkg --print-architecture).deb")
dpkg-deb -x "$place"/*.deb "$root"
is 'the packed program runs' "$("$root/usr/bin/holdback" version)" \
	"$("$HB_BUILD/bin/holdback" version)"
like 'the packed program finds its parts' "$("$root/usr/bin/holdback" help run)" '*--ephemeral*'
is 'the packed unit names the program where it is going to be' \
	"$(grep -c '="/usr/bin/holdback" keep' "$root/usr/lib/systemd/user/holdback-keep@.service")" 1
if [ "${HB_SOAK:-}" = 1 ]; then
	"$HB_SOURCE/tools/deb" "$HB_BUILD" "$place" >/dev/null 2>&1
	is 'a second package of the same tree has the same bytes' \
		"$(sha256sum <"$place/holdback_0.1.0_$(dpkg --print-architecture).deb")" "$sum"
fi
rm -r "$place" "$root" "$TMPDIR/said"
done_testing
