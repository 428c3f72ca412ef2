/* SPDX-License-Identifier: Apache-2.0 */
/* Each row of the tables of names and keys that no view shows. */
#include "base/buf.h"
#include "plan/filter/view_git.h"
#include "plan/profile.h"
#include "plan/settings.h"
#include "plan/view.h"
#include "plan/view_place.h"
#include "tap.h"

#include <stdbool.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const char *const hidden[] = {
	"/etc/passwd-",
	"/etc/group-",
	"/etc/shadow",
	"/etc/shadow-",
	"/etc/gshadow",
	"/etc/gshadow-",
	"/etc/sudoers",
	"/etc/sudoers.d",
	"/etc/ssh",
	"/etc/ssl/private",
	"/etc/credstore",
	"/etc/credstore.encrypted",
	"/etc/NetworkManager",
	"~/.ssh",
	"~/.gnupg",
	"~/.aws",
	"~/.azure",
	"~/.config/gcloud",
	"~/.config/gh",
	"~/.config/hub",
	"~/.config/op",
	"~/.config/kube",
	"~/.config/Keybase",
	"~/.config/rclone",
	"~/.config/google-chrome",
	"~/.config/chromium",
	"~/.config/BraveSoftware",
	"~/.config/microsoft-edge",
	"~/.mozilla",
	"~/.thunderbird",
	"~/.kube",
	"~/.docker",
	"~/.netrc",
	"~/.git-credentials",
	"~/.config/git/credentials",
	"~/.npmrc",
	"~/.pypirc",
	"~/.config/pip/pip.conf",
	"~/.pip/pip.conf",
	"~/.gem/credentials",
	"~/.config/composer/auth.json",
	"~/.composer/auth.json",
	"~/.opam/plugins/opam-publish",
	"~/.condarc",
	"~/.cargo/credentials",
	"~/.cargo/credentials.toml",
	"~/.vault-token",
	"~/.terraform.d",
	"~/.password-store",
	"~/.local/share/keyrings",
	"~/.local/share/uv/credentials",
	"~/.npm/_logs",
	"~/.local/share/kwalletd",
	"~/.1password",
	"~/.m2/settings.xml",
	"~/.m2/settings-security.xml",
	"~/.gradle/gradle.properties",
	"~/.s3cfg",
	"~/.bash_history",
	"~/.zsh_history",
	"~/.local/share/fish/fish_history",
	"~/.python_history",
	"~/.node_repl_history",
	"~/.psql_history",
	"~/.mysql_history",
	"~/.sqlite_history",
	"~/.rediscli_history",
	"~/.lesshst",
	"~/.viminfo",
};

static bool is_hidden(const struct profile *base, const char *path)
{
	for (size_t i = 0; i < base->n; i++)
		if (strcmp(base->entries[i].key, "hide") == 0 &&
		    strcmp(base->entries[i].value, path) == 0)
			return true;
	return false;
}

static void every_command_has_these_names_hidden(void)
{
	const struct profile *base = profile_find(PROFILE_BASE);
	size_t n = 0;

	CHECK(base != NULL);
	for (size_t i = 0; i < LENGTH(hidden); i++) {
		if (!is_hidden(base, hidden[i]))
			printf("# %s is not hidden\n", hidden[i]);
		CHECK(is_hidden(base, hidden[i]));
	}
	for (size_t i = 0; i < base->n; i++)
		n += strcmp(base->entries[i].key, "hide") == 0;
	CHECK_INT(n, LENGTH(hidden));
}

/* Each is left out by one pattern alone; `kept` is like it and stays. */
static const struct {
	const char *section, *key, *kept;
} keys[] = {
	{ "credential", "username", "" },
	{ "credential \"https://x\"", "helper", "" },
	{ "http", "extraHeader", "extraHeaders" },
	{ "http \"https://x\"", "extraHeader", "extraHeaders" },
	{ "http", "cookieFile", "saveCookies" },
	{ "http \"https://x\"", "cookieFile", "saveCookies" },
	{ "sendemail", "smtpPass", "smtpUser" },
	{ "imap", "pass", "port" },
	{ "github", "oauth-token", "user" },
	{ "hub", "my-password-is", "my-pass-is" },
	{ "ftp", "passwd", "passive" },
	{ "app", "client-secret-id", "client-id" },
};

static void check_key(const char *section, const char *key, bool is_shown)
{
	auto_buf struct buf text = BUF_INIT(1000), out = BUF_INIT(1000);
	struct view_git git = { 0 };

	CHECK_INT(buf_add_fmt(&text, "[%s]\n\t%s = canary\n", section, key), 0);
	CHECK_INT(view_git_filter(&git, buf_str(&text), text.len, &out), 0);
	if (!strstr(buf_str(&out), "canary") == is_shown)
		printf("# [%s] %s\n", section, key);
	CHECK_INT(strstr(buf_str(&out), "canary") != NULL, is_shown);
	CHECK_INT(git.n_left_out, !is_shown);
}

static void keys_that_log_in_are_left_out(void)
{
	for (size_t i = 0; i < LENGTH(keys); i++) {
		check_key(keys[i].section, keys[i].key, false);
		if (keys[i].kept[0])
			check_key(keys[i].section, keys[i].kept, true);
	}
	check_key("credentials", "username", true);
}

static void a_directory_of_keys_is_no_workspace(void)
{
	static const char *const names[] = {
		".ssh",
		".gnupg",
		".aws",
		".azure",
		".kube",
		".docker",
		".password-store",
		".terraform.d",
		".1password",
	};

	for (size_t i = 0; i < LENGTH(names); i++) {
		auto_buf struct buf at = BUF_INIT(100), in = BUF_INIT(100);
		auto_buf struct buf beside = BUF_INIT(100);

		CHECK_INT(buf_add_fmt(&at, "/home/u/%s", names[i]), 0);
		CHECK(view_refuses_workspace(buf_str(&at), "/home/u"));
		CHECK_INT(buf_add_fmt(&in, "/srv/%s/p", names[i]), 0);
		CHECK(view_refuses_workspace(buf_str(&in), "/home/u"));
		CHECK_INT(buf_add_fmt(&beside, "/home/u/%sx", names[i]), 0);
		CHECK(!view_refuses_workspace(buf_str(&beside), "/home/u"));
	}
}

TESTS(T(every_command_has_these_names_hidden), T(keys_that_log_in_are_left_out),
      T(a_directory_of_keys_is_no_workspace))
