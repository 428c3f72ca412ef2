# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# A repository that a session and its user share.  Sourced by tests/txn.
. "$HB_TESTS/lib/txn.sh"

export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
branch=master
# shellcheck disable=SC2034 # for the tests
id='-c user.name=n -c user.email=e'
# shellcheck disable=SC2034
two="echo 2 >>f; git $id commit -qam two"
git_in() {
	(cd "$project" && git "$@")
}
new_repository() {
	new_session "git init -q -b $branch . && echo f >f && echo g >g && git add f g && git commit -qm one"
}
subjects() {
	git_in log --format=%s "$@" | tr '\n' ,
}
