#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Cleanup needs nothing of what it removes: however a session is damaged, one
# command takes it away, and the real files stay as they are.
. "$HB_TESTS/lib/txn.sh"

# removes STRATEGY NAME SCRIPT: the session `s`, with layers, changes and an
# undo, is damaged by the script in its directory, and goes by `cleanup -y`.
removes() {
	HB_STRATEGY=$1
	new_session 'echo f >f; mkdir d; echo x >d/x'
	in_box 'echo one >>f'
	hb commit -y @s >/dev/null
	in_box 'echo two >>f; rm -r d; mkdir -p n/m; echo n >n/m/n'
	hb mark @s m >/dev/null
	in_box 'echo three >>f; mkdir -p o/p; echo o >o/p/o'
	before=$(digest "$project")
	(cd "$state/sessions/s" && eval "$3")
	check "cleanup of a session with $2" hb cleanup -y @s
	is "$2: the real files stay" "$(digest "$project")" "$before"
	is "$2: nothing of it is left" \
		"$(find "$state/sessions" "$state/layers" -mindepth 2 2>/dev/null | head -n 3)" ''
}

removes copy_on_write 'closed directories' 'chmod 000 r0/upper/o/p r0/upper/o r0/upper; chmod 000 ../../layers/*/*/r0/n/m ../../layers/*/*/r0/n'
removes copy_on_write 'a closed copy' 'mkdir -p r0/copy/a/b; chmod 000 r0/copy/a/b r0/copy/a r0/copy'
removes copy_on_write 'a command that was killed and closed directories' '
	sed -i "s/^state = .*/state = active/; /^sum = /d" session
	printf "sum = %s\n" "$(sha256sum <session | cut -d" " -f1)" >>session
	mkdir -p r0/upper/c; chmod 000 r0/upper/c; chmod 000 r0/upper'
removes copy_on_write 'a command that was killed and a damaged baseline' '
	sed -i "s/^state = .*/state = active/; /^sum = /d" session
	printf "sum = %s\n" "$(sha256sum <session | cut -d" " -f1)" >>session
	echo damaged >r0/baseline'
removes overlay 'a damaged list of what was seen' 'echo damaged >r0/seen'
removes overlay 'a directory for a list of what was seen' 'rm -f r0/seen; mkdir r0/seen'
removes copy_on_write 'no upper layer' 'chmod -R u+w r0/upper; rm -r r0/upper'
removes overlay 'a file for an upper layer' 'chmod -R u+w r0/upper; rm -r r0/upper; : >r0/upper'
removes overlay 'a forged mark in the upper layer' '
	python3 -c "import os; os.setxattr(\"r0/upper/f\", \"user.overlay.redirect\", b\"/\")"'
removes overlay 'a damaged journal' 'echo damaged >journal'
removes copy_on_write 'a damaged journal in a closed session' 'echo damaged >journal; chmod 000 r0/upper'
removes copy_on_write 'no record' 'rm session'
removes overlay 'a damaged record' 'echo damaged >session'
removes overlay 'a resource without a store' 'chmod -R u+w r0; rm -r r0'
removes overlay 'damaged history' 'for f in done/*; do echo damaged >"$f"; done'
removes overlay 'a layer that is gone' 'chmod -R u+w ../../layers; rm -r ../../layers'

# The real directory may be gone as well.
for strategy in overlay copy_on_write; do
	HB_STRATEGY=$strategy
	new_session 'echo f >f'
	in_box 'echo two >>f; mkdir o; chmod 000 o'
	rm -r "$project"
	check "$strategy: cleanup without the real directory" \
		"$HB_BIN" cleanup --state-dir "$state" -y @s
done
finish
