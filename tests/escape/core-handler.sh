#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# modes: root
# needs: python3
# serial
# V18: a core handler behind a pipe, which the kernel runs as root, outside of
# every box.  It is the whole machine's, so it is there for as short as can be.
# shellcheck disable=SC2154 # set in lib/box.sh
. "$HB_TESTS/lib/box.sh"

# The kernel gives the name of what crashed.
cat >handler <<'SH'
#!/bin/sh
echo "$1" >>"$0.told"
SH
chmod +x handler
for name in in-a-box by-itself; do
	cp probe "$name"
done
file=/proc/sys/kernel/core_pattern
before=$(cat "$file")
put_back() {
	echo "$before" >"$file"
}
trap 'put_back; cd / && rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
: >handler.told
(echo "|$work/handler %e" >"$file") 2>/dev/null ||
	skip_all 'nobody may set the core handler here'
inside ./in-a-box signals >told 2>&1 &
crashing=$!
wait_until grep -q ready told
for pid in $(below "$crashing"); do
	[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != in-a-box ] ||
		kill -SEGV "$pid"
done
status=0
wait "$crashing" 2>/dev/null || status=$?
./by-itself signals >told 2>&1 &
crashing=$!
wait_until grep -q ready told
kill -SEGV "$crashing"
wait "$crashing" 2>/dev/null
wait_until grep -q by-itself handler.told
put_back
is 'the command in the box has crashed' "$status" 139
is 'V18 no handler of the host was run for it' \
	"$(grep -c in-a-box handler.told)" 0
is 'control: it is for one outside' "$(grep -c by-itself handler.told)" 1
done_testing
