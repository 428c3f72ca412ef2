#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: unshare
# Namespaces that exist already, --userns --userns2 --pidns, and the end of all
# further ones, --disable-userns --assert-userns-disabled.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/bwrap.sh
. "$HB_TESTS/lib/bwrap.sh"

is 'user namespaces can be made by default' \
	"$(box unshare --user echo made 2>&1)" made
like '--disable-userns' \
	"$(box --unshare-user --disable-userns unshare --user echo made 2>&1)" \
	'unshare: unshare failed: *'
is '--disable-userns keeps the ids' \
	"$(box --unshare-user --disable-userns --uid 4711 id -u 2>&1)" 4711
like '--disable-userns cannot be undone with all capabilities' "$(
	box --unshare-user --disable-userns --uid 0 --cap-add ALL sh -c '
		echo 100 >/proc/sys/user/max_user_namespaces
		unshare --user echo made' 2>&1
)" '*unshare: unshare failed: *'
differs 'the host still has its limit' \
	"$(cat /proc/sys/user/max_user_namespaces)" 0
refuses '--assert-userns-disabled where they are not' \
	'creation of new user namespaces was not disabled as requested' \
	--ro-bind / / --assert-userns-disabled true
sees '--assert-userns-disabled where they are' ok \
	--unshare-user --disable-userns --assert-userns-disabled echo ok

hold_namespace outer --user --map-current-user --pid --fork
outer=$held
# unshare --fork stays outside of the pid namespace; its child is in it.
exec 5<"/proc/$outer/ns/user" 6<"/proc/$outer/ns/pid_for_children"
outer_user=$(readlink /proc/self/fd/5)
outer_pid=$(readlink /proc/self/fd/6)

sees '--userns' "$outer_user" --userns 5 readlink /proc/self/ns/user
sees '--userns keeps the uid' "$(id -u)" --userns 5 id -u
refuses '--userns and --unshare-user' \
	'--userns not compatible --unshare-user' \
	--userns 5 --unshare-user true
refuses '--userns and --unshare-all' \
	'--userns not compatible --unshare-user-try' \
	--userns 5 --unshare-all true
refuses '--userns with something else' \
	'Joining the specified user namespace failed, it might not be a descendant of the current user namespace.' \
	--userns 7 --ro-bind / / true 7</proc/self/ns/mnt

sees '--pidns' "$outer_pid" --userns 5 --pidns 6 readlink /proc/self/ns/pid
got=$(box --userns 5 --pidns 6 --unshare-pid readlink /proc/self/ns/pid 2>&1)
like '--pidns and --unshare-pid: another one' "$got" 'pid:\[*\]'
differs '--pidns and --unshare-pid: not the given one' "$got" "$outer_pid"
differs '--pidns and --unshare-pid: not our own' "$got" \
	"$(readlink /proc/self/ns/pid)"
status=0
box --userns 5 --pidns 6 sh -c 'exit 7' || status=$?
is '--pidns: the exit status arrives' "$status" 7
status=0
box --userns 5 --pidns 6 --unshare-pid sh -c 'exit 8' || status=$?
is '--pidns --unshare-pid: the exit status arrives' "$status" 8
# The box is set up on a small stack there; a whole block goes through it.
head -c 60000 /dev/zero >block
sees '--pidns --unshare-pid: files can be copied' 60000 --userns 5 --pidns 6 \
	--unshare-pid --file 9 /mnt/block sh -c 'wc -c </mnt/block' 9<block
sees '--pidns: /proc is of that namespace' yes --userns 5 --pidns 6 \
	--proc /proc sh -c 'test -e /proc/1 && test ! -e "/proc/$0" && echo yes' \
	"$outer"

# A user namespace below the first one, made by one who is in it.
mkfifo inner.go
nsenter --user="/proc/$outer/ns/user" --preserve-credentials \
	unshare --user --map-current-user \
	sh -c 'echo up >inner.up; read -r _ <inner.go' &
inner=$!
wait_until test -s inner.up || bail 'no nested user namespace'
exec 8<"/proc/$inner/ns/user"
inner_user=$(readlink /proc/self/fd/8)
differs 'the test has two namespaces' "$inner_user" "$outer_user"
sees '--userns2' "$inner_user" --userns 5 --userns2 8 \
	readlink /proc/self/ns/user
sees '--userns2 keeps what was mounted' 'ro' --userns 5 --userns2 8 \
	sh -c "$mount_options"'; mount_options / | cut -c 1-2'
echo >inner.go
wait "$inner"

exec 5<&- 6<&- 8<&-
release_namespaces
done_testing
