#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The immutable surface: whatever a command does to its workspace, the real one
# is as before, to the last byte, mode, time and attribute.
. "$HB_TESTS/lib/box.sh"

mkdir -p tree/dir/deep tree/empty
cd tree || bail 'no tree'
echo original >file
echo original >dir/deep/file
echo victim >dir/victim
ln -s file link
ln file hard
mkfifo fifo
chmod 640 file

# Names, types, modes, owners, sizes, times, inodes, links and content.
print() {
	find . -printf '%p %y %m %U %G %s %T@ %C@ %i %n %l\n' | sort
	find . -type f -exec sha256sum {} + | sort
}
print >../before

says 'V2 F3 a write is seen inside' changed \
	inside sh -c 'echo changed >file; cat file'
is 'V2 F3 a file that was changed inside is unchanged outside' "$(cat file)" original
says 'V2 a new file is there inside' new \
	inside sh -c 'echo new >new; cat new'
check_fails 'V2 a file that was made inside does not exist outside' test -e new
says 'F4 a deleted file is gone inside' gone \
	inside sh -c 'rm dir/victim; test -e dir/victim || echo gone'
is 'F4 a file that was removed inside is still there outside' "$(cat dir/victim)" victim
says 'F4 a deleted tree is gone inside' gone \
	inside sh -c 'rm -r dir; test -e dir || echo gone'
is 'F4 a tree that was removed inside is still there outside' "$(cat dir/deep/file)" original
says 'L4 the next box starts from the real files' original inside cat file

# A directory of the base cannot be renamed in an overlay; mv copies it.
says 'I14 everything can be done inside' yes inside sh -c '
	set -e
	echo x >>file; echo x >link; echo x >hard; : >dir/deep/file
	chmod 777 file dir; touch -d @1 file dir
	mv file moved; ln moved again; mv dir moved-dir
	ln -s / root; mkdir -p new/tree; rmdir empty; echo y >new/tree/file
	rm link fifo; mkfifo other
	dd if=/dev/zero of=moved bs=1 count=1 seek=3 conv=notrunc 2>/dev/null
	echo yes'
says 'I14 everything can be deleted inside' 0 \
	inside sh -c 'rm -rf ./* .[!.]*; ls -A | wc -l'
says 'I14 everything can be taken away inside' yes \
	inside sh -c 'chmod 000 file hard dir/* dir empty . && echo yes'
print >../after
says 'I14 F5 the real tree is as before, in all' '' diff ../before ../after

# Two at once do not see one another's writes, and neither writes for real.
mkfifo ../one ../two
inside sh -c 'echo one >file; echo up; read -r _; cat file' <../one >../out &
exec 8>../one
wait_until grep -q up ../out
says 'L10 boxes on one workspace do not meet' original inside cat file
echo >&8
exec 8>&-
wait $!
is 'L10 each keeps what it wrote' "$(cat ../out)" 'up
one'
print >../after
says 'I14 the real tree is as before' '' diff ../before ../after

# The limit of what is kept in memory.
like 'F6 what is written is kept in memory, up to --size' \
	"$("$HB_BIN" run --ephemeral -q --size 4M -- \
		sh -c 'dd if=/dev/zero of=big bs=1M count=16' 2>&1)" \
	'*No space left on device*'
done_testing
