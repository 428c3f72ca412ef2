#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --seccomp --add-seccomp-fd --exec-label --file-label --new-session
# --die-with-parent --as-pid-1 --cap-add --cap-drop, and what is always on.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/bwrap.sh
. "$HB_TESTS/lib/bwrap.sh"

make_filter uname 1 >no-uname
make_filter getpriority 1 >no-nice

# What is refused: uname, nice, both or nothing.
refused='uname >/dev/null 2>&1 || echo uname; nice >/dev/null 2>&1 || echo nice'

sees 'nothing is refused by default' '' sh -c "$refused"
sees '--seccomp' uname --seccomp 9 sh -c "$refused" 9<no-uname
sees '--seccomp: the error is the filter'"'s" \
	'uname: cannot get system name: Operation not permitted' \
	--seccomp 9 sh -c 'uname || :' 9<no-uname
sees '--seccomp twice: the last' \
	'bwrap: Only the last --seccomp option will take effect
nice' --seccomp 9 --seccomp 8 sh -c "$refused" 9<no-uname 8<no-nice
# Process 1 loads it on its own, while the command starts.
sees '--seccomp is in process 1 too' 2 --unshare-pid --proc /proc \
	--seccomp 9 sh -c 'tries=0
	until grep -q "^Seccomp:.2" /proc/1/status || [ "$tries" -ge 1000 ]; do
		tries=$((tries + 1))
	done
	sed -n "s/^Seccomp:.//p" /proc/1/status' 9<no-uname
sees '--seccomp closes its descriptor' gone --seccomp 9 \
	sh -c 'test -e /proc/self/fd/9 || echo gone' 9<no-uname
sees '--add-seccomp-fd' uname --add-seccomp-fd 9 sh -c "$refused" 9<no-uname
sees '--add-seccomp-fd adds up' 'uname
nice' --add-seccomp-fd 9 --add-seccomp-fd 8 sh -c "$refused" 9<no-uname 8<no-nice
sees '--add-seccomp-fd closes its descriptor' gone --add-seccomp-fd 9 \
	sh -c 'test -e /proc/self/fd/9 || echo gone' 9<no-uname
printf 123456789 >nine
refuses '--seccomp of nine bytes' \
	'Invalid seccomp data, must be multiple of 8' \
	--ro-bind / / --seccomp 9 true 9<nine
refuses '--add-seccomp-fd of nine bytes' \
	'Invalid seccomp data, must be multiple of 8' \
	--ro-bind / / --add-seccomp-fd 9 true 9<nine
head -c 16 /dev/zero >nonsense
check_fails '--seccomp that the kernel refuses' \
	box --seccomp 9 touch ran 9<nonsense
check_fails 'a --seccomp that the kernel refuses runs nothing' test -e ran

refuses '--exec-label' 'labeling not supported on this system' \
	--ro-bind / / --exec-label label true
refuses '--file-label' 'labeling not supported on this system' \
	--ro-bind / / --file-label label true

# session ARGUMENTS...: the session inside, as a number outside.
session() {
	box "$@" cut -d ' ' -f 6 /proc/self/stat 2>&1
}
own=$(cut -d ' ' -f 6 /proc/self/stat)
is 'the session is kept' "$(session)" "$own"
differs '--new-session' "$(session --new-session)" "$own"
differs '--new-session with --unshare-pid' \
	"$(session --new-session --unshare-pid)" "$own"

sees '--as-pid-1' 1 --unshare-pid --as-pid-1 sh -c 'echo $$'
sees 'without --as-pid-1' 2 --unshare-pid sh -c 'echo $$'
status=0
box --unshare-pid --as-pid-1 sh -c 'exit 9' || status=$?
is '--as-pid-1: the exit status' "$status" 9
refuses '--as-pid-1 needs a pid namespace' \
	'Specifying --as-pid-1 requires --unshare-pid' --as-pid-1 true

# The pipe ends when the last of them is dead.
for arguments in '' '--unshare-pid' '--unshare-pid --as-pid-1'; do
	mkfifo alive
	# shellcheck disable=SC2086 # words, or none
	sh -c 'echo $$ >parent; "$@"; :' sh "$HB_BWRAP" --ro-bind / / \
		--die-with-parent $arguments --info-fd 7 \
		sh -c 'echo up; exec sleep 1000' >alive 7>info &
	exec 6<alive
	read -r word <&6
	is "--die-with-parent $arguments: it runs" "$word" up
	kill -9 "$(cat parent)"
	wait "$!" 2>/dev/null
	check "--die-with-parent $arguments: all are dead" timeout 20 cat <&6
	kill -9 "$(sed -n 's/.*"child-pid": \([0-9]*\).*/\1/p' info)" 2>/dev/null
	exec 6<&-
	rm alive
done

# caps FIELD ARGUMENTS...: a capability set inside.
caps() {
	caps_field=$1
	shift
	box "$@" sed -n "s/^$caps_field:.//p" /proc/self/status 2>&1
}
none=0000000000000000
kill_only=0000000000000020
if [ "$HB_MODE" = root ]; then
	is 'root keeps its capabilities' "$(caps CapEff)" \
		"$(sed -n 's/^CapEff:.//p' /proc/self/status)"
	is '--cap-drop ALL' "$(caps CapEff --cap-drop ALL)" "$none"
	is '--cap-drop of one' \
		"$((0x$(caps CapEff) & ~0x$(caps CapEff --cap-drop CAP_KILL)))" 32
else
	for field in CapInh CapPrm CapEff CapBnd CapAmb; do
		is "nobody else has any: $field" "$(caps $field)" "$none"
		is "in a user namespace neither: $field" \
			"$(caps $field --unshare-user --uid 0)" "$none"
	done
fi
for field in CapPrm CapEff; do
	is "--cap-add after --cap-drop: $field" \
		"$(caps $field --unshare-user --cap-drop ALL --cap-add cap_kill)" \
		"$kill_only"
	is "--cap-drop after --cap-add: $field" \
		"$(caps $field --unshare-user --cap-add CAP_KILL --cap-add CAP_CHOWN \
			--cap-drop ALL --cap-add CAP_KILL)" "$kill_only"
	is "--cap-drop of what was added: $field" \
		"$(caps $field --unshare-user --cap-drop all --cap-add CAP_KILL \
			--cap-add CAP_CHOWN --cap-drop cap_chown)" "$kill_only"
done
sees '--cap-add gives what it says' given --unshare-user --uid 0 --cap-add ALL \
	chroot / echo given
unlike 'without it there is nothing' "$(
	box --unshare-user --uid 0 --cap-drop ALL chroot / echo given 2>&1
)" '*given*'
refuses '--cap-add of nothing' 'unknown cap: CAP_NO_SUCH' \
	--cap-add CAP_NO_SUCH true
sees 'no new privileges' 1 sed -n 's/^NoNewPrivs:.//p' /proc/self/status
done_testing
