#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Rules that look at objects and contents: each fires, and does not where it
# should not; and nothing that a session chose reaches the terminal.
. "$HB_TESTS/lib/txn.sh"

# found: severity, path and rule of each finding, on one line.
found() {
	hb gate @s 2>&1 | sed -n 's/^\([a-z]*\): \([^ ]*\): .* \[\([a-z-]*\)\]$/\1 \2 \3/p' |
		tr '\n' ','
}

# again SCRIPT: in the session, from the beginning.
again() {
	hb rollback -y @s >/dev/null
	in_box "$1"
}

new_session '
	mkdir d; echo a >a; ln -s a link; cp /bin/true bin; chmod 644 bin; echo t >tool
	chmod 755 tool; for i in $(seq 101); do echo $i >d/$i; done; truncate -s 101M huge
	ln -s /etc/hostname out; printf "[alias]\n\ta = b\n" >.gitconfig
'

again 'echo b >>a; echo c >c; echo n >>tool; ln -s ../a d/up; ln -s d/1 down
	printf "\0more" >>bin; ln -s "$PWD/a" absolute; mkdir e; rm d/1 link out
	truncate -s 100M almost'
is 'ordinary changes have nothing to be said' "$(found)" 'warn almost binary,'

again 'chmod +x a; cp a new; printf "x\0" >zero; cp tool copy; chmod 755 tool'
is 'executables and binaries are said' "$(found)" \
	'warn a executable,warn copy executable,warn new executable,warn zero binary,'
check 'changes that only warn are committed' hb commit -y --dry-run @s

again 'mkdir -p .clinerules/hooks; echo x >.clinerules/hooks/start; echo x >.clinerules/a.md'
is "an agent's notes are said, and its hooks among them asked about" "$(found)" \
	'warn .clinerules/a.md agent-notes,ask .clinerules/hooks/start agent,'

again 'ln -s /etc/passwd abs; ln -s ../x rel; ln -s ../../x d/rel; ln -s d/../../x mixed
	ln -s "$PWD-other/x" beside; ln -sfn /root link'
is 'links that lead out ask' "$(found)" 'ask abs link-out,ask beside link-out,'\
'ask d/rel link-out,ask link link-out,ask mixed link-out,ask rel link-out,'

again 'truncate -s 104857601 large; echo x >>huge'
is 'huge files ask' "$(found)" \
	'ask huge huge,warn large binary,ask large huge,'
again 'truncate -s 104857600 large'
is 'up to a size they do not' "$(found)" 'warn large binary,'

again 'rm d/*'
is 'many deletions ask' "$(found)" 'ask . mass-delete,'
like 'with their number' "$(hb gate @s)" '*: 101 of them \[mass-delete]*'
again 'rm -r d/[2-9]* d/10*'
is 'a few less do not' "$(found)" ''
again 'mv d e'
is 'what is only moved is not deleted' "$(found)" ''

again 'cp a s; chmod u+s s; cp a g; chmod g+s g; mkfifo p; mkdir -m 2755 e; chmod 1644 a'
is 'rights and fifos ask' "$(found)" \
	'ask g setid,ask p special,ask s setid,'
again 'python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"k\")"'
is 'sockets are denied' "$(found)" 'deny k device,'
check_exit 'whatever is allowed' 4 hb commit -y --allow device @s

again 'printf "[alias]\n\ta = b\n[user]\n\tname = n\n" >.gitconfig'
is 'a key that was there is no news' "$(found)" ''
again 'printf "[alias\n" >.gitconfig'
like 'what cannot be understood is found' "$(hb gate @s)" \
	'ask: .gitconfig: *: it cannot be understood \[git-config]*'
again 'rm .gitconfig; ln -s a .gitconfig'
like 'a link in the place of a file with keys is found' "$(hb gate @s)" \
	'ask: .gitconfig: *: it is a link \[git-config]*'
again 'echo "{}" >package.json; truncate -s 5M package.json'
like 'a file with keys that is too large is found' "$(hb gate @s)" '*package.json: *: it cannot be understood*'
again 'echo x >package.json; chmod 000 package.json; echo y >c; chmod 000 c'
like 'a file that its owner cannot read is read' "$(hb gate @s)" \
	'ask: package.json: *: it cannot be understood*'
again 'mkdir e; echo x >e/.envrc; chmod 000 e'
is 'in a closed directory, too' "$(found)" 'ask e/.envrc environment,'
again 'ln -s d .vscode; mkdir -p x/.config; ln -s ../../d x/.config/fish'
is 'a link in the place of a directory is found' "$(found)" \
	'ask .vscode editor,ask x/.config/fish shell,'
again 'mkdir .vscode; mkdir -p .config/fish'
is 'the directory itself is nothing' "$(found)" ''
again 'rm .gitconfig'
is 'removing a directory with an ordinary name finds nothing' "$(found)" ''

# Which changes a rule is about.
hb rollback -y @s >/dev/null
(cd "$project" && mkdir -p .git/hooks && echo x >.git/hooks/pre-push && echo x >.env)
again 'chmod +x .git/hooks/pre-push; chmod u+s a'
is 'a right to execute makes a hook' "$(found)" 'ask .git/hooks/pre-push git-hook,'\
'warn .git/hooks/pre-push executable,ask a setid,'
again 'chmod 600 .git/hooks/pre-push; touch .git/hooks/pre-push'
is 'to take the right away does not' "$(found)" ''
again 'rm .git/hooks/pre-push'
is 'to take the hook away asks' "$(found)" 'ask .git/hooks/pre-push git-hook,'
again 'echo x >.git/hooks/pre-commit.sample; mkdir -p .git/logs; echo x >.git/logs/HEAD'
is 'what git itself leaves there is nothing' "$(found)" ''
again 'echo y >>.env'
is 'a hook whose name was there finds nothing' "$(found)" ''
again 'mkdir n n/.git; mkdir .git/x'
is 'directories among the hooks find nothing' "$(found)" ''

# Secrets; tests/unit and tests/fuzz look at the formats.
token=ghp_$(python3 - <<-'END'
	import random, string, zlib
	digits = string.digits + string.ascii_uppercase + string.ascii_lowercase
	body = "".join(random.choice(digits) for _ in range(30))
	number, check = zlib.crc32(body.encode()), ""
	while number:
	    number, at = divmod(number, 62)
	    check = digits[at] + check
	print(body + check.rjust(6, "0"))
END
)
again "printf 'one\ntwo\ntoken = %s\n' '$token' >notes; echo x >d/.env; echo x >.env.example"
is 'secrets ask, by name and by content' "$(found)" 'ask d/.env secret-name,ask notes:3 secret,'
for words in gate 'gate --json' 'commit -y' 'status' 'commit -y --allow secret --allow secret-name'; do
	# shellcheck disable=SC2086 # words
	unlike "$words does not show it" "$(hb $words @s 2>&1)" "*$(printf %.20s "$token")*"
done
check_fails 'nothing in the session shows the secret' grep -rqF "$token" "$state/sessions/s/allowed" \
	"$state/sessions/s/session"
again "sed -i 's/one/three/' notes"
is 'a secret that was there is no news' "$(found)" ''
again 'mv notes moved'
is 'a secret that was moved is news at its new path' "$(found)" 'ask moved:3 secret,'
again 'cp notes copy; echo more >>copy'
is 'a copy of a secret is news at its path' "$(found)" 'ask copy:3 secret,'

# The names and words of a session on a terminal.
again 'n=$(printf "\033]0;x\007\n.envrc"); mkdir "$n"; echo x >"$n/.envrc"
	printf "[alias \"\033[31m\"]\n\tx = y\n[filter \"\302\233x\"]\nclean = z\n" >.gitconfig
	ln -s "$(printf "/\033[2J")" "$(printf "l\342\200\256k")"'
for words in gate 'gate --json' 'commit -y' 'gate --allow agent'; do
	# shellcheck disable=SC2086 # words
	hb $words @s >"$TMPDIR/said" 2>&1
	check "$words says it" grep -q envrc "$TMPDIR/said"
	check_fails "$words: no escape, no bell, no control" \
		python3 -c 'if True:
			import re, sys
			text = open(sys.argv[1], encoding="utf-8").read()
			bad = "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
			sys.exit(0 if re.search(bad, text) else 1)' "$TMPDIR/said"
done
rm -f "$TMPDIR/said"
finish
