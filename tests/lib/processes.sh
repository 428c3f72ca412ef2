# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# Processes as the host sees them.

# below PID: the pids of all its descendants, parents before their children.
below() {
	ps -e -o pid=,ppid= | awk -v top="$1" '
		{ pids[NR] = $1; parent[$1] = $2 }
		END {
			found[top] = 1
			do {
				n = 0
				for (i = 1; i <= NR; i++)
					if (!(pids[i] in found) && parent[pids[i]] in found) {
						found[pids[i]] = 1
						print pids[i]
						n++
					}
			} while (n)
		}'
}

# state PID: the letter that ps shows; nothing if there is no such process.
state() {
	sed 's/.*) \(.\).*/\1/' "/proc/$1/stat" 2>/dev/null
}

# are_gone PID...
are_gone() {
	for gone_pid; do
		[ ! -d "/proc/$gone_pid" ] || [ "$(state "$gone_pid")" = Z ] ||
			return 1
	done
}
