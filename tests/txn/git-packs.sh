#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: git
#
# New packs of a session: each object in them is its name, or nothing of the repository arrives.
# shellcheck disable=SC2016 # expanded inside
. "$HB_TESTS/lib/git.sh"

# Exchanges the offsets of the first two objects of a pack's index, which gets its sum again; or spoils the pack.
cat >"$TMPDIR/spoil.py" <<'EOF'
import glob, hashlib, os, struct, sys
where, how, digest = sys.argv[1], sys.argv[2], hashlib.new(sys.argv[3])
index = glob.glob(where + "/objects/pack/*.idx")[0]
pack = index[:-4] + ".pack"
size = digest.digest_size
data = bytearray(open(index, "rb").read())
n = struct.unpack(">L", data[1028:1032])[0]
at = 1032 + n * (size + 4)
for path in (index, pack):
    os.chmod(path, 0o644)
if how == "index":
    data[at:at + 4], data[at + 4:at + 8] = data[at + 4:at + 8], data[at:at + 4]
    digest.update(data[:-size])
    data[-size:] = digest.digest()
    open(index, "wb").write(data)
elif how == "sum":
    data[at] ^= 0x40
    open(index, "wb").write(data)
else:
    data = bytearray(open(pack, "rb").read())
    data[len(data) // 2] ^= 1
    open(pack, "wb").write(data)
EOF
spoil() {
	in_box "$two; git repack -adq; $(cat <<-EOF
		cat >/tmp/spoil.py <<'END'
		$(cat "$TMPDIR/spoil.py")
		END
	EOF
	)
		python3 /tmp/spoil.py .git $1 $2"
}
refused() {
	out=$(hb commit -y --no-gate $2 @s 2>&1)
	is "$1: refused" "$?" 5
	like "$1: the pack is named" "$out" '*the file of pack pack-*has another content*'
	is "$1: no pack arrives" "$(find "$project" -name '*.pack' | wc -l)" "${3:-0}"
	is "$1: no commit arrives" "$(subjects)" 'one,'
}

new_repository
in_box "$two; git repack -adq"
check 'a whole pack' hb commit -y @s
is 'arrives' "$(subjects)" 'two,one,'
check 'as git reads it' git_in fsck --strict

# Each object is made of the one before.
new_repository
in_box "seq 3000 >long; git add long; for i in \$(seq 40); do sed -i \$((i * 70))s/.*/line\$i/ long; git $id commit -qam \$i; done
	git repack -adfq --depth=50 --window=3; git verify-pack -v .git/objects/pack/*.idx | grep -c 'chain length'" >"$work/chains"
check 'the pack has long chains' test "$(tail -n 1 "$work/chains")" -gt 5
check 'a pack with long chains' hb commit -y @s
is 'arrives whole' "$(git_in rev-list --count HEAD)" 41
check 'as git reads that' git_in fsck --strict

for how in index sum pack; do
	new_repository
	spoil $how sha1
	refused "$how" ''
done
new_repository
spoil index sha1
refused 'as files' --git=files

new_session "git init -q --object-format=sha256 -b $branch . && echo f >f && git add f && git commit -qm one"
in_box "$two; git repack -adq"
check 'a whole pack with the other hash' hb commit -y @s
check 'is read by git' git_in fsck --strict
new_session "git init -q --object-format=sha256 -b $branch . && echo f >f && git add f && git commit -qm one"
spoil index sha256
refused 'the other hash' ''

# A repository below the top has no record, and is treated as files.
new_session "git init -q -b $branch below && cd below && echo f >f && git add f && git commit -qm one"
in_box "cd below; $two; git repack -adq; cat >/tmp/spoil.py <<'END'
$(cat "$TMPDIR/spoil.py")
END
	python3 /tmp/spoil.py .git index sha1"
out=$(hb commit -y --no-gate @s 2>&1)
is 'below the top: refused' "$?" 5
like 'below the top: the pack is named' "$out" '*the file of pack pack-*has another content*'
is 'below the top: nothing arrives' "$(git -C "$project/below" log --format=%s)" one
rm -f "$TMPDIR/spoil.py"
finish
