#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: strace
#
# A journal in flight that is damaged: the files that the commit has put aside
# are named by the records that are whole, and can be copied out.
. "$HB_TESTS/lib/txn.sh"

journal=$state/sessions/s/journal
out=$TMPDIR/out
number=12

# interrupt: a commit that is killed when all three files of the user are aside.
interrupt() {
	while [ "$number" -gt 0 ]; do
		new_session 'echo "text of f" >f; echo "text of g" >g; chmod 400 g
			mkdir -p d/in; echo "text of x" >d/in/x; ln -s f d/l; mkdir e; echo e >e/e'
		in_box 'echo more >>f; rm -f g; rm -rf d; echo new >e/new'
		strace -f -qq -o /dev/null -e trace=renameat2 \
			-e inject=renameat2:signal=KILL:when="$number" \
			"$HB_BIN" commit --state-dir "$state" -y @s >/dev/null 2>&1
		[ ! -e "$journal" ] || [ "$(aside)" -lt 3 ] || break
		number=$((number - 1))
	done
	[ "$number" -gt 0 ] || bail 'no commit could be interrupted'
	rm -rf "$out"
}

# aside: how many objects of the real directory lie under numbers.
aside() {
	find "$state/sessions/s" -path '*/undo/*/*' -prune ! -name 'L*' | wc -l
}

# damage EXPRESSION: python that changes the bytes `b`; `at` finds a text.
damage() {
	python3 - "$journal" "$1" <<'PY'
import sys
b = bytearray(open(sys.argv[1], "rb").read())
def flip(i): b[i] ^= 0xff
def at(text): return b.index(text.encode() + b"\0")
exec(sys.argv[2])
open(sys.argv[1], "wb").write(b)
PY
}

# listed VERSION: path and type of each, on one line.
listed() {
	hb recover --list @s 2>/dev/null | awk -F '\t' -v v="$1" '$1 == v { printf "%s %s,", $4, $2 }' |
		tr ',' '\n' | sort | tr '\n' ','
}

# texts: every text that was copied out, by its bytes.
texts() {
	(cd "$out" && find . -type f -exec cat {} + | sort | tr '\n' ',')
}

all='d directory,f file,g file,'
every='text of f,text of g,text of x,'

interrupt
before=$(digest "$work" "$state")
is 'a whole journal names all that was put aside' "$(listed before)" "$all"
is 'the list says where each lies and how large it is' \
	"$(hb recover --list @s | awk -F '\t' '$1 == "before" && $4 == "f" { print $3; system("cat " $5) }' |
		tr '\n' ' ')" '10 text of f '
check 'all of them are copied out' hb recover --take "$out" @s
is 'a file is at its path, byte for byte' "$(cat "$out/r0/named/f")" 'text of f'
is 'a deleted file has its mode' "$(stat -c %a "$out/r0/named/g")" 400
is 'a directory is there with what it holds' "$(cat "$out/r0/named/d/in/x")" 'text of x'
is 'a copied link has its target' "$(readlink "$out/r0/named/d/l")" f
is 'nothing of the project or the session has changed' "$(digest "$work" "$state")" "$before"
check 'the commit can be finished after that' hb recover @s
check 'without an interrupted change there is nothing to list' hb recover --list @s
is 'recover --list prints no line without an interrupted change' "$(hb recover --list @s 2>/dev/null)" ''

interrupt
damage 'flip(at("f") - 20)'
check_exit 'a damaged journal cannot be finished' 10 hb recover @s
like 'its fix names the list' "$tap_output" '*holdback recover --list @s*--take DIR*'
check_exit 'a look cannot show anything' 10 hb diff @s
like 'its fix names the list too' "$tap_output" '*holdback recover --list @s*'
is 'records behind a damaged one name their files' "$(listed before)" '(not named) file,d directory,g file,'
check 'all are copied out' hb recover --take "$out" @s
like 'it says that one has only a number' "$tap_output" '*1 could not be named*'
is 'every text is there' "$(texts)" "$every"
is 'the one without a name has its number' "$(cat "$out"/r0/unnamed/undo/*/*)" 'text of f'
check_exit 'a second copy does not go over the first' 2 hb recover --take "$out" @s
is 'a refused second copy leaves the first as it was' "$(texts)" "$every"

interrupt
damage 'flip(34)'
is 'without a head every file still has its name' "$(listed before)" "$all"
damage 'flip(0); flip(9); flip(24)'
is 'whatever of the head is damaged' "$(listed before)" "$all"
check 'all are copied out' hb recover --take "$out" @s
is 'the text is at its path' "$(cat "$out/r0/named/f")" 'text of f'

interrupt
damage 'del b[at("g"):]'
is 'a journal that was cut names what is before the cut' "$(listed before)" \
	'(not named) file,d directory,f file,'
check 'all are copied out' hb recover --take "$out" @s
is 'every text is there' "$(texts)" "$every"
rm -rf "$out"
damage 'b.clear()'
is 'an empty one names nothing and lists everything' "$(listed before)" \
	'(not named) directory,(not named) file,(not named) file,'
check 'all are copied out under their numbers' hb recover --take "$out" @s
is 'every text is there' "$(texts)" "$every"
is 'no name is made up' "$(ls "$out/r0")" unnamed

echo mine >"$TMPDIR/file"
check_exit 'a file is no directory to copy to' 2 hb recover --take "$TMPDIR/file" @s
is 'a file that is named as directory is as it was' "$(cat "$TMPDIR/file")" mine
mkdir "$TMPDIR/full"
echo mine >"$TMPDIR/full/mine"
check_exit 'a directory that has something in it is no place to copy to' 2 hb recover --take "$TMPDIR/full" @s
is 'it has nothing more' "$(ls "$TMPDIR/full")" mine
check_exit 'the store is no place to copy to' 2 hb recover --take "$state/sessions/s/out" @s
check 'nothing is left there' test ! -e "$state/sessions/s/out"
ln -s "$state/sessions/s" "$TMPDIR/link"
check_exit 'the store through a link is no place to copy to' 2 hb recover --take "$TMPDIR/link/out" @s
check_exit '--list and --take are two things' 2 hb recover --list --take "$out" @s
check_exit '--back is another' 2 hb recover --list --back @s

interrupt
for file in "$state"/sessions/s/r0/undo/*/*; do
	if grep -qs 'text of f' "$file"; then
		echo other >"$TMPDIR/other"
		mv -f "$TMPDIR/other" "$file"
	fi
done
is 'another object under the number of a file does not get its name' "$(listed before)" \
	'(not named) file,d directory,g file,'

# A fifo has no bytes that could be copied.
interrupt
for file in "$state"/sessions/s/r0/undo/*/*/in; do
	mkfifo "$file/fifo"
done
check_exit 'an object that cannot be copied is no success' 10 hb recover --take "$out" @s
like 'it says where that lies' "$tap_output" '*/undo/*is not copied whole*'
is 'every text beside it is copied all the same' "$(texts)" "$every"

# Each fourth byte looks like the beginning of a record of 1 MiB.
damage 'b[64:] = bytes([0, 0, 16, 0]) * (1 << 21)'
is 'a file that is made to look like many records is not read for ever' "$(listed before)" \
	'(not named) directory,(not named) file,(not named) file,'
rm -rf "$out" "$TMPDIR/file" "$TMPDIR/full" "$TMPDIR/link"
finish
