#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3 unshare
#
# A resource that lies on an overlay itself, as in a container: whatever moves
# there is copied up first, which makes it look like another object, and what
# is a directory of the lower layer cannot be moved at all.
. "$HB_TESTS/lib/txn.sh"

unshare -Urm true 2>/dev/null ||
	skip_all 'no namespace for mounts of our own'

# What the sessions run in: mounts of our own, as root without a user namespace.
options=
namespace='unshare -m'
if [ "$HB_MODE" != root ]; then
	options=,userxattr
	namespace='unshare -Urm'
fi

# on_overlay SCRIPT: in o/p, of which everything lies in the lower layer, with
# the store outside, or with $inside on the overlay as well.
on_overlay() {
	remove_all
	mkdir -p "$work/l/p" "$work/u" "$work/w" "$work/o"
	store=$state
	[ -z "$inside" ] || store=$work/o/state
	(
		cd "$work/l/p" || exit
		mkdir -p d/e/f x k
		echo a >a
		echo b >b
		echo keep >k/keep
		echo other >k/other
		ln -s a link
		echo one >one
		ln one two
		echo 1 >d/1
		echo 2 >d/e/2
		echo 3 >d/e/f/3
		ln -s nowhere d/e/link
		echo y >x/y
		chmod 0640 d/1
		chmod 0750 d/e
		find . -exec touch -h -d '2020-01-02 03:04:05.678' {} +
	)
	$namespace sh -e -c "
		mount -t overlay -o lowerdir=$work/l,upperdir=$work/u,workdir=$work/w$options none '$work/o'
		cd '$work/o/p'
		hb() { c=\$1; shift; '$HB_BIN' \"\$c\" --state-dir '$store' \"\$@\"; }
		box() { hb exec @s -- sh -e -c \"\$1\"; }
		digest() { python3 '$HB_TESTS/lib/digest.py' . | grep -v holdback-; }
		create() { hb create s --cow . --strategy $strategy 2>&1 | grep -v '^holdback: no overlay'; }
		# Once it has moved, each name is a file of its own.
		part_names() { digest() { python3 '$HB_TESTS/lib/digest.py' . | sed '/holdback-/d; s/ 0 2c8b/ - 2c8b/'; }; }
		# cycle: commit, undo, redo and undo, with the tree compared.
		cycle() {
			digest >'$work/before'
			hb commit -y @s >/dev/null
			digest >'$work/after'
			hb undo @s >/dev/null
			digest | diff -u '$work/before' - || echo 'undo differs'
			hb redo @s >/dev/null
			digest | diff -u '$work/after' - || echo 'redo differs'
			hb undo @s >/dev/null
			digest | diff -u '$work/before' - || echo 'second undo differs'
			hb commit -y @s >/dev/null
			digest | diff -u '$work/after' - || echo 'second commit differs'
		}
		$1" 2>&1
}

# Both with one strategy and one place of the store.
files() {
	where="$strategy, store ${inside:-outside}"

	out=$(on_overlay 'create
		box "echo more >>a; rm b; ln -sfn b link; chmod 600 k/keep; echo n >n"
		cycle
		cat a n; ls; readlink link; stat -c %a k/keep')
	is "edits and deletions of files ($where)" "$out" 'created session s
a
more
n
a
d
k
link
n
one
two
x
b
600'

	out=$(on_overlay 'create
		box "echo more >>one; rm two"
		part_names
		cycle
		cat one; ls two 2>/dev/null || echo none')
	is "a file of several names ($where)" "$out" 'created session s
one
more
none'
}

# A commit of some files, then of the others, and both undone.
parts() {
	where="$strategy, store ${inside:-outside}"

	out=$(on_overlay 'create
		box "echo more >>a; rm b; rm d/1 k/other; echo more >>k/keep"
		hb commit -y --only a --only k/other @s >/dev/null
		cat a; ls k
		hb diff --name-status @s | tr "\t\n" " ,"; echo
		hb commit -y @s >/dev/null
		ls; ls d; cat k/keep
		hb undo @s >/dev/null
		hb undo @s >/dev/null
		cat a; ls . d k')
	is "in parts, and back ($where)" "$out" 'created session s
a
more
keep
D b,D d/1,M k/keep,
a
d
k
link
one
two
x
e
keep
more
a
.:
a
b
d
k
link
one
two
x

d:
1
e

k:
keep
other'
}

# What cannot be moved goes entry by entry, and comes back so.
directories() {
	out=$(on_overlay 'create
		box "rm -r d x; chmod 700 k; rm -r k"
		cycle
		ls')
	is "directories that vanish ($where)" "$out" 'created session s
a
b
link
one
two'

	out=$(on_overlay 'create
		box "rm -r d x k; echo file >d; ln -s a x; mkdir k; echo new >k/new"
		cycle
		ls; cat d k/new; readlink x')
	is "directories that others replace ($where)" "$out" 'created session s
a
b
d
k
link
one
two
x
file
new
a'

	out=$(on_overlay 'create
		chmod 555 d/e; chmod 500 d; chmod 0 d/e/f
		hb cleanup -y @s >/dev/null; create
		box "chmod -R u+rwx d; rm -r d"
		cycle
		ls; hb undo @s >/dev/null; stat -c "%a %y" d d/e d/e/f; chmod -R u+rwx d')
	like "closed ones ($where)" "$out" 'created session s
created session s
a
b
k
link
one
two
x
500 2020-01-02 03:04:05.678*
555 2020-01-02 03:04:05.678*
0 2020-01-02 03:04:05.678*'

}

shared_directories() {
	out=$(on_overlay 'create
		box "rm -r d k"
		hb commit -y @s >/dev/null
		hb undo @s >/dev/null
		echo his >d/e/f/his
		hb redo @s || echo "[$?]"
		cat d/e/f/his d/e/f/3 k/keep
		rm d/e/f/his
		hb redo @s >/dev/null
		mkdir d
		hb undo @s || echo "[$?]"
		ls -A d
		rmdir d
		hb undo @s >/dev/null
		cat d/e/f/3')
	like "with somebody else in it ($where)" "$out" 'created session s
*[[]5]
his
3
keep
*[[]5]
3'

	out=$(on_overlay 'create
		digest >../before
		box "rm -r d"
		hb commit -y @s >/dev/null
		box "echo file >d"
		hb commit -y @s >/dev/null
		cat d
		hb undo @s >/dev/null
		ls -d d 2>/dev/null || echo none
		hb undo @s >/dev/null
		digest | diff -u ../before -')
	is "one that went, and then a file of its name ($where)" "$out" 'created session s
file
none'

	out=$(on_overlay 'create
		box "rm -r d; rm k/keep"
		hb commit -y --except d/e @s >/dev/null || echo "[$?]"
		find d k | sort
		hb commit -y @s >/dev/null
		find d k 2>/dev/null')
	is "in part ($where)" "$out" 'created session s
d
d/e
d/e/2
d/e/f
d/e/f/3
d/e/link
k
k/other
k
k/other'
}

refused() {
	# The directories above it are copied up as well, and nobody moved them.
	out=$(on_overlay 'create
		box "echo more >>d/e/f/3"
		hb commit -y @s >/dev/null
		box "echo more >>d/1"
		hb commit -y @s >/dev/null
		cat d/1 d/e/f/3')
	is "one commit after the other below a directory ($where)" "$out" 'created session s
1
more
3
more'

	out=$(on_overlay 'create
		box "echo more >>a; rm -r d"
		hb rollback -y @s >/dev/null
		hb diff --name-status @s
		hb undo @s >/dev/null
		hb diff --name-status @s | tr "\t\n" " ,"; echo
		cat a d/e/f/3')
	is "rollback ($where)" "$out" 'created session s
M a,D d/,D d/1,D d/e/,D d/e/2,D d/e/f/,D d/e/f/3,D d/e/link,
a
3'

	out=$(on_overlay 'create
		box "echo more >>a; rm b; rm -r d"
		echo his >>b; echo his >d/e/his; echo his >>a
		hb commit -y @s >/dev/null || echo "[$?]"
		cat a b d/e/his')
	like "what others have done is found ($where)" "$out" 'created session s
*[[]5]
a
his
b
his
his'
}

strategy=overlay inside=
files
parts
directories
shared_directories
refused
strategy=copy_on_write inside=inside
files
parts
directories
shared_directories
refused
remove_all
done_testing
