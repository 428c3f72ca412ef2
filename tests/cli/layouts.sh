#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Hosts that are laid out in other ways: the view has what they have.  Each is
# put together in a box of the other front end.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

# host OPTIONS...: a root directory with these things in it, and the test's own.
host() {
	"$HB_BWRAP" --dev-bind /dev /dev --dev-bind /proc /proc \
		--tmpfs /run --dir /tmp \
		--ro-bind /etc /etc --ro-bind "$HB_BIN" /h/bin/holdback \
		--ro-bind "$HB_LIBEXEC" /h/libexec/holdback \
		--bind "$work" "$work" --bind "$HOME" "$HOME" \
		--chdir "$work" "$@"
}
tell='for d in /bin /sbin /lib /lib64 /usr; do
	if [ -L $d ]; then echo $d is a link
	elif [ -d $d ]; then echo $d is a directory
	fi
done'

# split COMMAND...: /bin and /lib are no links.
split() {
	host --ro-bind /usr /usr --ro-bind /usr/bin /bin \
		--ro-bind /usr/sbin /sbin --ro-bind /usr/lib /lib \
		--ro-bind-try /usr/lib64 /lib64 "$@"
}
is 'a system that is not merged' \
	"$(split /h/bin/holdback --ephemeral sh -c "$tell" 2>&1)" \
	"$(split /bin/sh -c "$tell")"
like 'is really not' "$(split /h/bin/holdback --ephemeral sh -c "$tell")" \
	'/bin is a directory*/lib is a directory*'
check_fails 'a system that is not merged is read-only' \
	split /h/bin/holdback --ephemeral sh -c 'echo x >/bin/x || echo x >/lib/x'

# merged COMMAND...
merged() {
	host --ro-bind /usr /usr --symlink usr/bin /bin \
		--symlink usr/sbin /sbin --symlink usr/lib /lib \
		--symlink usr/lib64 /lib64 "$@"
}
is 'a merged system' \
	"$(merged /h/bin/holdback --ephemeral sh -c "$tell" 2>&1)" \
	"$(merged /bin/sh -c "$tell")"

# store COMMAND...: nothing but a store and a profile that leads into it.
store() {
	host --ro-bind /usr /nix/store/system \
		--symlink /nix/store/system/lib64 /lib64 \
		--symlink /nix/store/system/lib /lib \
		--symlink /nix/store/system /run/current-system/sw \
		--setenv PATH /run/current-system/sw/bin "$@"
}
prints 'a system with a store and no /usr' 'yes no' \
	store /h/bin/holdback --ephemeral sh -c \
	'echo $([ -d /nix/store/system ] && echo yes) $([ -e /usr ] || echo no)'
is 'commands are found by its profile' \
	"$(store /h/bin/holdback --ephemeral sh -c 'echo $PATH')" \
	/run/current-system/sw/bin
check_fails 'the store is read-only' \
	store /h/bin/holdback --ephemeral sh -c 'echo x >/nix/store/x'

# The system's own configuration.
configured() {
	"$HB_BWRAP" --dev-bind / / --overlay-src /etc --tmp-overlay /etc \
		--perms 644 --file 3 /etc/holdback/config \
		--perms 644 --file 4 /etc/holdback/make.conf "$@" \
		3<<-END 4<<-MAKE
			net = host
		END
			net = none
		MAKE
}
like '/etc/holdback/config' "$(configured "$HB_BIN" config)" \
	'*net = host *# /etc/holdback/config:1*'
like '/etc/holdback/COMMAND.conf' "$(configured "$HB_BIN" config make)" \
	'*net = none *# /etc/holdback/make.conf:1*'
mkdir -p "$HOME/.config/holdback" && echo 'net = none' >"$HOME/.config/holdback/config"
like 'the user wins over the system' "$(configured "$HB_BIN" config)" \
	"*net = none *# $HOME/.config/holdback/config:1*"
rm -r "$HOME/.config"
done_testing
