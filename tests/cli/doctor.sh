#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: python3 unshare
#
# holdback doctor on hosts that lack something.  The lack is made by a seccomp
# filter (tests/probe/deny.c) or by a sandbox around it.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

nl='
'

doctor() {
	"$HB_BIN" doctor "$@"
}

# box OPTIONS...: the host, read-only but for the work directory.
box() {
	"$HB_BWRAP" --ro-bind / / --dev /dev --bind "$work" "$work" \
		--unshare-user --unshare-pid --proc /proc "$@"
}

denying() {
	"$HB_PROBE" deny "$@"
}

# finds NAME STATUS ROW WORDS COMMAND...: doctor ends with that status, and its
# row, from its verdict to its fix, matches WORDS.  In a sandbox of root parts of
# /proc are covered, so that the status there may be 6 for that reason.
finds() {
	finds_name=$1
	finds_status=$2
	finds_row=$3
	finds_words=$4
	shift 4
	finds_got=0
	finds_out=$("$@" 2>&1) || finds_got=$?
	like "$finds_name" "$finds_got:$(printf '%s\n' "$finds_out" |
		sed -n "/^[a-z]*  *$finds_row /,/^[a-z]/{
			/^[a-z]*  *$finds_row /p
			/^ /p
		}")" "$finds_status:$finds_words"
}

export XDG_STATE_HOME="$work"

check 'this host can do everything' doctor
like 'doctor says that this host can do everything' "$(doctor | tail -n 1)" \
	'* ok, [01] warn, 0 fail: holdback run works here'
is 'nothing is left behind' "$(ls -A)" ''

# The user namespace, by its causes.
finds 'a filter refuses it' 6 user-namespace \
	"fail *found: a seccomp filter or security module*fix: docker: *" \
	denying 'clone:0&0x10000000' EPERM -- "$HB_BIN" doctor

# A chroot looks like a filter to who is refused.
mkdir -p jail/work jail/proc jail/usr/bin
cp "$HB_BIN" jail/usr/bin/holdback
like 'a chroot refuses it' "$(unshare -Urm sh -c 'mount --rbind /proc jail/proc
exec python3 -c "import os
os.chroot(\"jail\")
os.chdir(\"/work\")
os.execv(\"/usr/bin/holdback\", [\"holdback\", \"run\", \"--ephemeral\",
	\"/usr/bin/holdback\"])"' 2>&1)" '*6*in a chroot there are no *fix: *'
rm -r jail
finds 'what needs it is not tried' 6 procfs \
	'warn *not tried: it needs mount-api' \
	denying 'clone:0&0x10000000' EPERM -- "$HB_BIN" doctor
finds 'the limit is reached' 6 user-namespace \
	'fail *found: the limit on user namespaces is reached*fix: raise *' \
	denying 'clone:0&0x10000000' ENOSPC -- "$HB_BIN" doctor
finds 'a sandbox that allows none' 6 user-namespace \
	'fail *found: *o*fix: *user.max_user_namespaces*' \
	box --disable-userns "$HB_BIN" doctor
finds 'they are nested too deeply' 6 user-namespace \
	'fail *found: user namespaces are nested too deeply*fix: *' \
	denying 'clone:0&0x10000000' EUSERS -- "$HB_BIN" doctor
finds 'the kernel has none' 6 user-namespace \
	'fail *found: this kernel has no user namespaces*fix: *' \
	denying 'clone:0&0x10000000' EINVAL -- "$HB_BIN" doctor

# switch NAME VALUE COMMAND...: a host with that switch in /proc/sys/kernel.
switch() {
	switch_name=$1
	echo "$2" >"$work/switch"
	shift 2
	box --tmpfs /proc/sys/kernel \
		--file 9 "/proc/sys/kernel/$switch_name" "$@" 9<"$work/switch"
}
finds 'a sysctl is off' 6 user-namespace \
	'fail *kernel.unprivileged_userns_clone is 0*fix: sysctl kernel.unprivileged_userns_clone=1' \
	switch unprivileged_userns_clone 0 \
	"$HB_PROBE" deny 'clone:0&0x10000000' EPERM -- "$HB_BIN" doctor
finds 'AppArmor is in the way' 6 user-namespace \
	'fail *found: AppArmor does not let*fix: install an AppArmor profile*' \
	switch apparmor_restrict_unprivileged_userns 1 \
	"$HB_PROBE" deny 'clone:0&0x10000000' EPERM -- "$HB_BIN" doctor
rm -f switch

# Other namespaces.
finds 'no network namespace' 6 network-namespace \
	'fail *found: *refuses it: cannot make the namespace*without it: only --net host*' \
	denying 'clone:0&0x40000000' EPERM -- "$HB_BIN" doctor
finds 'no pid namespace' 6 pid-namespace 'fail *found: *' \
	denying 'clone:0&0x20000000' EINVAL -- "$HB_BIN" doctor
finds 'a chroot leaves no procfs, which says why' 6 procfs 'warn *namespace*' \
	denying 'clone:0&0x20000000' EINVAL -- "$HB_BIN" doctor

# Mounts.
finds 'a filter does not know the mount API' 6 mount-api \
	'fail *has no such call: cannot open a tmpfs*fix: use Linux 5.14*' \
	denying fsopen ENOSYS -- "$HB_BIN" doctor
finds 'a filter refuses mounts' 6 mount-api \
	'fail *refuses it: cannot make a tmpfs*fix: docker: *' \
	denying fsmount EPERM -- "$HB_BIN" doctor
finds 'no openat2' 6 openat2 'fail *found: *has no such call*fix: *' \
	denying openat2 ENOSYS -- "$HB_BIN" doctor
finds 'parts of /proc are masked' 0 procfs \
	'warn *found: *cannot make a*without it: the /proc around*fix: *unmask*' \
	box --tmpfs /proc/fs "$HB_BIN" doctor
finds 'only procfs and what needs it is' 0 overlay-memory 'ok *' \
	box --tmpfs /proc/fs "$HB_BIN" doctor
finds '/proc/sys/user cannot be written' 0 no-nesting \
	'warn *found: */proc/sys*read-only*fix: mount a procfs*' \
	box --ro-bind /proc/sys/user /proc/sys/user "$HB_BIN" doctor
finds 'a file system that holds no upper layer' '[06]' overlay-disk \
	'warn *found: this file system cannot hold*without it: sessions*fix: set XDG_STATE_HOME*' \
	box --overlay-src "$work" --tmp-overlay "$work" "$HB_BIN" doctor
finds 'an overlay in memory works there' '[06]' overlay-memory 'ok *' \
	box --overlay-src "$work" --tmp-overlay "$work" "$HB_BIN" doctor

# Filters and landlock.
finds 'no filters' 6 seccomp 'fail *found: *cannot load the default filter*' \
	denying 'seccomp:0=1' EINVAL -- "$HB_BIN" doctor
finds 'no notifier' 0 seccomp-notifier \
	'warn *found: *cannot have a listener*without it: they are refused*' \
	denying 'seccomp:0=2' EINVAL -- "$HB_BIN" doctor
finds 'no wake-up' 0 seccomp-wake-up \
	'warn *found: this kernel cannot do it*fix: use Linux 6.6*' \
	denying 'ioctl:1=0x40082104' EINVAL -- "$HB_BIN" doctor
finds 'no landlock' 0 landlock \
	'warn *found: this kernel has no landlock*without it: the mounts are*fix: *' \
	denying landlock_create_ruleset ENOSYS -- "$HB_BIN" doctor
finds 'landlock is switched off' 0 landlock \
	'warn *found: *not switched on*fix: *lsm=*' \
	denying landlock_create_ruleset EOPNOTSUPP -- "$HB_BIN" doctor

# V5: seven things that a run must not have, by trying them.
mkdir home
export HOME="$work/home" XDG_CONFIG_HOME="$work/home/.config"
mkdir -p home/.config/holdback
for row in no-network ends-with-us workspace-held private-tmp own-proc \
	closed-terminal filter-in-force; do
	finds "V5 $row" 0 "$row" 'ok *' doctor
done
# configured LINE...: doctor with that in the user's configuration.
configured() {
	printf '%s\n' "$@" >home/.config/holdback/config
	doctor
	configured_status=$?
	rm home/.config/holdback/config
	return $configured_status
}
finds 'V4 a network that is shared' 0 no-network \
	"warn *found: a run reaches the host's network*fix: net = none*" \
	configured 'net = host'
finds 'a workspace that is real' 0 workspace-held \
	'warn *found: its changes are in the real directory*' \
	configured 'direct = yes'
finds 'a /tmp that is shared' 0 private-tmp \
	"warn *found: a file made in /tmp is in the host's*" \
	configured 'rw = /tmp'
is 'doctor leaves nothing in /tmp' "$(find /tmp -maxdepth 1 -user "$(id -u)" \
	-name 'holdback-doctor*' 2>/dev/null)" ''
finds 'where nothing can be run they are not tried' 6 filter-in-force \
	'warn *not tried: *' \
	denying 'clone:0&0x10000000' EPERM -- "$HB_BIN" doctor

# Agents that are installed.
mkdir bin
printf '#!/bin/sh\n' >bin/claude
printf '#!/bin/sh\n' >bin/aider
chmod +x bin/claude bin/aider
with_agents() {
	PATH="$work/bin:$PATH" "$@"
}
finds 'an agent with the network of its profile is fine' 0 claude 'ok *bin/claude*' \
	with_agents doctor
finds 'an agent with the network of the host is a warning' 0 claude \
	"warn *found: $work/bin/claude; a run reaches the host's network*fix: *--net none*" \
	with_agents configured 'net = host'
unlike 'one that is not installed is not named' "$(with_agents doctor)" \
	'*gemini*'

# Storage and sessions.
finds 'the limits of a run without options are said' 0 limits \
	'ok *processes*files*inotify instances*' doctor
finds 'free space is said' 0 space 'ok *MiB are free*' doctor
finds 'whether copies take room is said' 0 reflink 'ok *' doctor
finds 'attributes are tried' 0 attributes 'ok *' doctor
finds 'sessions are fine' 0 sessions 'ok *' doctor
mkdir p
(cd p && "$HB_BIN" run -q -s broken touch f) >/dev/null 2>&1
echo nonsense >"$XDG_STATE_HOME/holdback/sessions/broken/session"
finds 'a session that cannot be read is named' 0 sessions \
	"warn *found: 1 broken, such as 'broken'*fix: holdback recover @broken" \
	doctor
rm -rf "$XDG_STATE_HOME/holdback" p bin home
export HOME="$work"
unset XDG_CONFIG_HOME

# Where nothing can be written.
says 'no directory to try things in' 6 \
	"holdback: there is no directory to try things in${nl}fix: set TMPDIR*" \
	"$HB_BWRAP" --ro-bind / / --dev /dev --proc /proc "$HB_BIN" doctor

# The parts of the installation.
mkdir -p part/bin part/libexec/holdback
cp "$HB_BIN" part/bin/holdback
cp "$HB_LIBEXEC/commands" part/libexec/holdback/commands
finds 'a part is missing' 0 bwrap \
	"warn *found: '*/bwrap': No such file*fix: install holdback whole*" \
	part/bin/holdback doctor
cp "$HB_LIBEXEC/commands" part/libexec/holdback/bwrap
finds 'a part is not static' 0 bwrap 'warn *is not static*' \
	part/bin/holdback doctor
rm -r part

# JSON.
document=$(doctor --json)
is '--json is one line' "$(printf '%s\n' "$document" | wc -l)" 1
like '--json has a version and all checks' "$document" \
	'{"version":1,"command":"doctor","checks":\[{"name":"user-namespace","verdict":"ok",*\],"ok":true}'
is '--json has as many checks as the text has lines' \
	"$(printf '%s\n' "$document" | grep -o '"verdict"' | wc -l)" \
	"$(doctor | grep -c "^[a-z][a-z]*  *[a-z]")"
document=$(denying fsopen ENOSYS -- "$HB_BIN" doctor --json)
is '--json: the status' "$?" 6
like '--json: what is lost and the fix' "$document" \
	'*"name":"mount-api","verdict":"fail","used_for":"*","found":"*","lost":"*","fix":"*"ok":false}'

is 'nothing is left behind by any of these' "$(ls -A)" ''
done_testing
