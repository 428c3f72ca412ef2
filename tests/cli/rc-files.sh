#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The user's configuration of package managers in a view: keys of a list, and
# nothing that logs in.
# shellcheck disable=SC2016,SC2154 # expanded inside; set in lib/cli.sh
. "$HB_TESTS/lib/cli.sh"

HOME=$work/home
export HOME
mkdir -p home/.config/pip home/.config/mise home/.cargo p && cd p || bail 'no directory'
# In two parts, so that this file has none.
token=glpat-Xk3vQ9ZtR
token=${token}7pLw2NcB5yD
begin=-----BEGIN end=-----END
printf '%s CERTIFICATE-----\nQUJD\n%s CERTIFICATE-----\n%s PRIVATE KEY-----\nSECRET\n%s PRIVATE KEY-----\n' \
	$begin $end $begin $end >"$HOME/ca.pem"
cat >"$HOME/.npmrc" <<END
registry=https://ann:SECRET@npm.example.org/
@mine:registry=https://mine.example.org/
//npm.example.org/:_authToken=SECRET
cafile=~/ca.pem
strict-ssl=true
ignore-scripts=true
before=$token
always-auth=SECRET
END
cat >"$HOME/.config/pip/pip.conf" <<END
[global]
index-url = https://ann:SECRET@pip.example.org/simple
extra-index-url =
    https://one.example.org/
    https://ann:SECRET@two.example.org/
client-cert = SECRET
END
cat >"$HOME/.cargo/config.toml" <<END
[registries]
mine = { index = "sparse+https://cargo.example.org/", token = "SECRET" }
[env]
KEY = "SECRET"
END
printf '[tools]\nnode = "22"\n[env]\nKEY = "SECRET"\n' >"$HOME/.config/mise/config.toml"

seen=$(run -q --net host sh -c 'cd && cat .npmrc ca.pem .config/pip/pip.conf .cargo/config.toml .config/mise/config.toml' 2>&1)
for word in https://npm.example.org/ @mine:registry https://mine.example.org/ ignore-scripts QUJD \
	https://pip.example.org/simple https://one.example.org/ https://two.example.org/ \
	sparse+https://cargo.example.org/ 'node = "22"'; do
	like "the view has $word" "$seen" "*$word*"
done
for word in SECRET "$token" ann authToken client-cert KEY always-auth; do
	unlike "the view does not have $word" "$seen" "*$word*"
done
lines=$(on_terminal 'run --ephemeral true')
like 'a line tells of keys that are left out' "$lines" \
	'*~/.npmrc: 4 keys have a login or are unknown, and are left out inside*'
like 'a line tells of each file' "$lines" '*~/.config/pip/pip.conf: 3 keys *~/.cargo/config.toml: 2 keys *'
check_fails 'without a network no certificates are shown' run -q cat "$HOME/ca.pem"
check_fails 'a configuration cannot be written' run -q sh -c 'echo x >>~/.npmrc' 2>/dev/null

like 'with the home directory shown the file stays hidden' \
	"$(run -q --ro "$HOME" sh -c 'cat ~/.npmrc ~/.config/pip/pip.conf || echo none' 2>&1)" '*denied*denied*none'
check_fails 'a file that the user hides is not there' run -q --hide "$HOME/.npmrc" cat "$HOME/.npmrc"
is 'a file that is asked for by name is the real one' \
	"$(run -q --ro "$HOME/.npmrc" cat "$HOME/.npmrc" 2>/dev/null)" "$(cat "$HOME/.npmrc")"

for kind in section nul fifo huge; do
	rm -f "$HOME/.npmrc"
	case $kind in
	section) printf '[SECRET]\nregistry=x\n' >"$HOME/.npmrc" ;;
	nul) printf 'registry=x\0SECRET\n' >"$HOME/.npmrc" ;;
	fifo) mkfifo "$HOME/.npmrc" ;;
	huge) yes registry=SECRET | head -n 50000 >"$HOME/.npmrc" ;;
	esac
	prints "$kind: the file is not there, and the command runs" '' \
		run -q sh -c 'cat ~/.npmrc 2>/dev/null; :'
	like "$kind: a line tells of it" "$(on_terminal 'run --ephemeral true')" \
		'*~/.npmrc is not understood, and not shown inside*'
done
rm "$HOME/.npmrc"

# The programs themselves read it so.
if command -v npm >/dev/null; then
	printf 'registry=https://ann:SECRET@npm.example.org/\n@mine:registry=https://mine.example.org/\n' >"$HOME/.npmrc"
	is 'npm inside has its registries' \
		"$(run -q sh -c 'npm config get registry; npm config get @mine:registry' 2>/dev/null | xargs)" \
		'https://npm.example.org/ https://mine.example.org/'
else
	skip 'npm inside has its registries' 'there is no npm'
fi
if python3 -m pip --version >/dev/null 2>&1; then
	is 'pip inside has its indices' \
		"$(run -q python3 -m pip config get global.extra-index-url 2>/dev/null | xargs)" \
		'https://one.example.org/ https://two.example.org/'
else
	skip 'pip inside has its indices' 'there is no pip'
fi
done_testing
