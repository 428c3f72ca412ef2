#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A session that `create` made has the view of `run`, and keeps what it was told.
# The whole host is in a view only if somebody says so.
#
# shellcheck disable=SC2016 # what runs inside expands there
. "$HB_TESTS/lib/txn.sh"

new_session 'echo f >f; mkdir secret; echo k >secret/key'
mkdir -p "$HOME/.config/holdback" "$HOME/own"
echo mine >"$HOME/own/file"
config=$HOME/.config/holdback

# remake OPTIONS...: the session `s` anew.
remake() {
	hb cleanup -y @s >/dev/null
	hb create s --cow "$project" "$@" >/dev/null
}

is 'the home directory is hidden' "$(in_box 'cat ~/own/file 2>&1 || echo none' | tail -n 1)" none
is 'a variable that is in no list does not pass' \
	"$(HB_SECRET=1 && export HB_SECRET && in_box 'echo "${HB_SECRET-none}"')" none
is 'there is no network but the own one' \
	"$(in_box 'sed 1,2d /proc/net/dev | cut -d : -f 1 | tr -d " \n"')" lo
is 'what no list names is not there' "$(in_box 'ls -d /var/lib 2>/dev/null || echo none')" none
is 'a command in the view of run says nothing of the view' "$(in_box true 2>&1)" ''
is 'the record has the policy of a run' \
	"$(sed -n 's/^policy = profile/profile/p' "$state/sessions/s/session")" profile=generic
# closed: a file of /etc that only root can read, and that no list names.
closed=$(find /etc -type f ! -perm -004 -size +0 ! -path '/etc/ssh/*' \
	! -name '*shadow*' ! -path '/etc/ssl/*' ! -path '/etc/sudoers*' \
	! -path '/etc/NetworkManager/*' 2>/dev/null | head -n 1)
if [ "$HB_MODE" = root ] && [ -z "$closed" ]; then
	skip 'root reads no file of /etc that others cannot' 'there is none but those with a name'
elif [ "$HB_MODE" = root ]; then
	is 'root reads no file of /etc that others cannot' \
		"$(hb exec @s -- cat "$closed" 2>/dev/null | wc -c)" 0
fi
is 'nobody reads /etc/shadow in the session' "$(in_box 'cat /etc/shadow 2>/dev/null | wc -c')" 0

remake --env HB_GIVEN=yes --hide "$project/secret" --ro "$HOME/own" --timeout 5m
is 'create takes the options of run, and the session keeps them' \
	"$(in_box 'echo "$HB_GIVEN"; cat secret/key 2>/dev/null || echo hidden; cat ~/own/file' | tr '\n' ,)" \
	yes,hidden,mine,
is 'the session keeps the limits that create was told' \
	"$(grep -c '^policy = timeout=300$' "$state/sessions/s/session")" 1
echo 'env = HB_FILED=yes' >"$config/config"
remake
: >"$config/config"
is 'the session keeps what the files said when it was made' "$(in_box 'echo "$HB_FILED"')" yes
echo 'env = HB_NAMED=yes' >"$config/named.conf"
remake --profile named
is 'create takes a profile by its name' "$(in_box 'echo "$HB_NAMED"')" yes
for option in --session=x --ephemeral --direct --code=f --chdir=/; do
	status=0
	hb create other --cow "$project" "$option" >/dev/null 2>&1 || status=$?
	is "create does not take ${option%%=*}, which is about one run" "$status" 2
done

in_box 'printf "#!/bin/sh\necho made\n" >made; chmod +x made'
is 'a command that only the session has is found' "$(hb exec @s -- ./made)" made
is 'a command that only the session has is found in PATH' "$(PATH=$project:$PATH && export PATH && hb exec @s -- made)" made
status=0
out=$(hb exec @s -- ./nothing 2>&1) || status=$?
is 'a command that neither the host nor the session has is told' "$status:$out" "127:holdback: there is no './nothing'"

# A worktree's repository can be read.
if command -v git >/dev/null; then
	(
		cd "$work" && git init -q repo && cd repo &&
			git -c user.name=n -c user.email=e commit -q --allow-empty -m first &&
			git worktree add -q "$work/tree" HEAD
	) 2>/dev/null
	hb create tree --cow "$work/tree" >/dev/null
	is 'the repository of a worktree is shown' \
		"$(cd "$work/tree" && "$HB_BIN" exec --state-dir "$state" @tree -- git log --format=%s)" first
	hb cleanup -y @tree >/dev/null
fi

remake --view host
line="holdback: session 's': view: the whole host, read-only"
is 'with --view host the host is there' "$(in_box 'ls -d /var/lib' 2>/dev/null)" /var/lib
is 'with --view host each command says so in one line' "$(in_box true 2>&1)" "$line"
is 'with --view host nothing of the host can be written' \
	"$(in_box '(: >/var/lib/hb-test) 2>/dev/null && echo written; true' 2>/dev/null)" ''
is 'with --view host the home directory stays hidden' \
	"$(in_box 'cat ~/own/file 2>/dev/null || echo none' 2>/dev/null)" none
is 'with --view host /etc/shadow stays hidden' "$(in_box 'cat /etc/shadow 2>/dev/null | wc -c' 2>/dev/null)" 0
is 'with --view host the store stays hidden' "$(in_box "ls -A '$state' 2>/dev/null | wc -l" 2>/dev/null)" 0
other=$(mktemp /var/tmp/hb-other.XXXXXX)
is 'with --view host the temporary files of others stay hidden' \
	"$(in_box "test -e '$other' || echo none" 2>/dev/null)" none
rm "$other"
like 'status tells that the view is the host' "$(hb status @s)" '*held back · view: the whole host, read-only*'
like 'status --json tells that the view is the host' "$(hb status --json @s)" '*"view":"host"*'
hb fork @s again >/dev/null
like 'a fork has the view of its session' "$(hb exec @again -- true 2>&1)" '*the whole host, read-only'
hb cleanup -y @again >/dev/null

run() {
	(cd "$project" && exec "$HB_BIN" run --ephemeral "$@")
}
is 'run takes --view host' "$(run --view host -- ls -d /var/lib 2>/dev/null)" /var/lib
is 'run --view host is told as a weakening' "$(run -q --view host -- true 2>&1)" \
	'holdback: weakened: the whole host can be read, but for the home directory'
is 'plan shows the root of the host' \
	"$(cd "$project" && "$HB_BIN" plan run --view host -- true | grep -c '^bind source="/" dest="/" flags=ro$')" 1
like 'why names the option --view' "$(cd "$project" && "$HB_BIN" why /var/lib run --view host -- true | tr '\n' ' ')" \
	"*read-only*option '--view'*"
is 'a variable can choose the view' \
	"$(HOLDBACK_VIEW=host && export HOLDBACK_VIEW && run -- ls -d /var/lib 2>/dev/null)" /var/lib
echo 'view = host' >"$config/config"
is 'the configuration of the user can choose the view' "$(run -- ls -d /var/lib 2>/dev/null)" /var/lib
is 'an option wins over the configuration of the user' "$(run --view run -- sh -c 'ls -d /var/lib 2>/dev/null || echo none')" none
: >"$config/config"
echo 'view = host' >"$config/ls.conf"
like 'a profile of the user cannot choose the view' "$(run -- ls 2>&1)" '*a profile cannot choose the view*'
rm "$config/ls.conf"
for word in host run; do
	echo "view = $word" >"$project/.holdback.conf"
	like "a file in the workspace cannot choose the view $word" "$(run -- ls 2>&1)" '*may only tighten*'
done
rm -rf "$project/.holdback.conf" "$HOME/own" "$HOME/.config"
finish
