# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# The files that lints look at, one per line.  Not from git: a lint also sees
# what is not added yet, and works in an unpacked archive.

# all_files TREE: everything that somebody wrote.
all_files() {
	(cd "$1" && find . -path ./build -prune -o -path ./.git -prune -o \
		-name __pycache__ -prune -o -type f ! -name '*~' -print) |
		sed 's,^\./,,' | sort
}

# c_files TREE
c_files() {
	all_files "$1" | grep '\.[ch]$'
}

# code_files TREE: what is compiled or interpreted.
code_files() {
	all_files "$1" | while read -r file; do
		case ${file##*/} in
		*.c | *.h | *.py | *.sh) echo "$file" ;;
		*.*) ;;
		*)
			case $(head -c 2 "$1/$file" | tr -d '\0') in
			'#!') echo "$file" ;;
			esac
			;;
		esac
	done
}

# shell_files TREE
shell_files() {
	code_files "$1" | while read -r file; do
		case $file in
		*.sh) echo "$file" ;;
		*)
			head -n 1 "$1/$file" |
				grep -q '^#!.*[/ ]\(sh\|bash\|dash\)$' &&
				echo "$file"
			;;
		esac
	done
}
