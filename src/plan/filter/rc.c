/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/filter/rc.h"

#include "base/buf.h"
#include "plan/filter/login.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/*
 * Lists of what is shown, because these files are made for tokens, and each
 * version of a manager knows more of them.  Nothing here makes a program of the
 * host run: it would run inside.
 */
#define KEYS_MAX  96
#define NAME_SIZE 512
#define LINE_SIZE 4096

static const char *const npm_keys[] = {
	"registry",
	"@*:registry",
	"cafile",
	"strict-ssl",
	"ignore-scripts",
	"proxy",
	"https-proxy",
	"http-proxy",
	"noproxy",
	"prefix",
	"save-exact",
	"save-prefix",
	"save",
	"engine-strict",
	"package-lock",
	"package-manager-strict",
	"lockfile",
	"fund",
	"audit",
	"audit-level",
	"progress",
	"color",
	"loglevel",
	"legacy-peer-deps",
	"strict-peer-deps",
	"auto-install-peers",
	"strict-peer-dependencies",
	"prefer-offline",
	"prefer-dedupe",
	"update-notifier",
	"node-linker",
	"hoist",
	"shamefully-hoist",
	"public-hoist-pattern",
	"minimum-release-age",
	"before",
	"tag",
	"access",
	"maxsockets",
	"fetch-retries",
	"fetch-timeout",
	"fetch-retry-*",
	"link-workspace-packages",
	"shared-workspace-lockfile",
	"resolution-mode",
	"init-license",
	"init-version",
	"omit",
	"include",
	"install-strategy",
	NULL,
};

static const char *const pip_keys[] = {
	"*.index-url",
	"*.extra-index-url",
	"*.trusted-host",
	"*.cert",
	"*.proxy",
	"*.timeout",
	"*.retries",
	"*.no-index",
	"*.find-links",
	"*.require-virtualenv",
	"*.disable-pip-version-check",
	"*.break-system-packages",
	"*.prefer-binary",
	"*.only-binary",
	"*.no-binary",
	"*.no-cache-dir",
	"*.use-feature",
	"*.use-deprecated",
	"*.progress-bar",
	"*.no-color",
	"*.user",
	"*.pre",
	"*.upgrade-strategy",
	"*.require-hashes",
	"*.no-input",
	"*.format",
	NULL,
};

static const char *const cargo_keys[] = {
	"registry.default",
	"registries.*.index",
	"registries.*.protocol",
	"source.*.registry",
	"source.*.replace-with",
	"source.*.directory",
	"source.*.local-registry",
	"source.*.git",
	"source.*.branch",
	"source.*.tag",
	"source.*.rev",
	"net.retry",
	"net.git-fetch-with-cli",
	"net.offline",
	"http.proxy",
	"http.cainfo",
	"http.timeout",
	"http.check-revoke",
	"http.multiplexing",
	"http.ssl-version*",
	"http.low-speed-limit",
	"build.jobs",
	"build.target",
	"build.rustflags",
	"build.rustdocflags",
	"build.incremental",
	"target.*.linker",
	"target.*.rustflags",
	"target.*.runner",
	"alias.*",
	"profile.*",
	"term.*",
	"cargo-new.*",
	"unstable.*",
	"resolver.*",
	NULL,
};

static const char *const uv_keys[] = {
	"index-url",
	"extra-index-url",
	"no-index",
	"index.name",
	"index.url",
	"index.default",
	"index.explicit",
	"index-strategy",
	"find-links",
	"native-tls",
	"offline",
	"python-preference",
	"python-downloads",
	"python-install-mirror",
	"pypy-install-mirror",
	"link-mode",
	"compile-bytecode",
	"resolution",
	"prerelease",
	"exclude-newer",
	"concurrent-*",
	"allow-insecure-host",
	"no-build",
	"no-binary",
	"pip.index-url",
	"pip.extra-index-url",
	"pip.no-index",
	NULL,
};

static const char *const mise_keys[] = { "tools.*", "settings.experimental",
					 "settings.idiomatic_*",
					 "settings.legacy_*", NULL };

static const char *const *const lists[] = {
	[RC_NPM] = npm_keys, [RC_PIP] = pip_keys,   [RC_CARGO] = cargo_keys,
	[RC_UV] = uv_keys,   [RC_MISE] = mise_keys,
};

static const char *const authority_keys[] = { "cafile", "*.cert",
					      "http.cainfo" };

static bool is_listed(const struct rc *rc, const char *name)
{
	for (size_t i = 0; lists[rc->kind][i]; i++)
		if (login_name_fits(lists[rc->kind][i], name))
			return true;
	return false;
}

static int show_authorities(const struct rc *rc, const char *name,
			    const char *value)
{
	for (size_t i = 0; i < sizeof(authority_keys) / sizeof(char *); i++)
		if (rc->show && login_name_fits(authority_keys[i], name))
			return rc->show(rc->ctx, value);
	return 0;
}

int rc_add_value(struct rc *rc, const char *name, const char *value, char quote,
		 struct buf *out)
{
	auto_buf struct buf cut = BUF_INIT(LINE_SIZE);
	bool is_url = strstr(value, "://");
	enum login_cut how;
	int r;

	how = login_cut(value, login_name_fits("*proxy", name), &cut);
	if (cut.error)
		return cut.error;
	if (!is_listed(rc, name) || how == LOGIN_CUT_ALL ||
	    (is_url && strpbrk(value, "?#\\")) ||
	    (rc->is_secret &&
	     rc->is_secret(rc->ctx, name, buf_str(&cut), cut.len))) {
		rc->n_left_out++;
		return 0;
	}
	rc->n_left_out += how == LOGIN_CUT_SOME;
	r = show_authorities(rc, name, buf_str(&cut));
	if (r < 0)
		return r;
	if (quote)
		(void)buf_add_char(out, quote);
	(void)buf_add_str(out, buf_str(&cut));
	if (quote)
		(void)buf_add_char(out, quote);
	return out->error ? out->error : 1;
}

/* One line without its end, blanks cut off behind; false behind the last. */
static bool next_line(const char **at, char *line, int *r)
{
	size_t n = strcspn(*at, "\n");

	if (!**at)
		return false;
	if (n >= LINE_SIZE) {
		*r = -EINVAL;
		return false;
	}
	memcpy(line, *at, n);
	while (n > 0 && strchr(" \t\r", line[n - 1]))
		n--;
	line[n] = '\0';
	*at += strcspn(*at, "\n");
	*at += **at == '\n';
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ' && line[i] != '\t')
			*r = -EINVAL;
	return *r >= 0;
}

static bool is_comment(const char *line)
{
	line += strspn(line, " \t");
	return !line[0] || line[0] == '#' || line[0] == ';';
}

/* Parts a line at the first of `marks`; the value is NULL without one. */
static char *part_line(char *line, const char *marks)
{
	char *at = strpbrk(line, marks);
	size_t n;

	if (!at)
		return NULL;
	*at++ = '\0';
	for (n = strlen(line); n > 0 && strchr(" \t", line[n - 1]); n--)
		line[n - 1] = '\0';
	return at + strspn(at, " \t");
}

/* KEY = VALUE, or KEY[] = VALUE; a section is something else. */
static int filter_npm(struct rc *rc, const char *text, struct buf *out)
{
	char line[LINE_SIZE], name[LINE_SIZE];
	int r = 0;

	while (r >= 0 && next_line(&text, line, &r)) {
		char *key = line + strspn(line, " \t"), *value;
		size_t from = out->len, n;

		if (is_comment(line))
			continue;
		if (key[0] == '[')
			return -EINVAL;
		value = part_line(key, "=");
		n = strlen(key);
		(void)snprintf(name, sizeof(name), "%s", key);
		if (n > 2 && strcmp(key + n - 2, "[]") == 0)
			name[n - 2] = '\0';
		(void)buf_add_fmt(out, "%s = ", key);
		r = rc_add_value(rc, name, value ? value : "true", 0, out);
		if (r == 0)
			buf_cut(out, from);
		else
			(void)buf_add_char(out, '\n');
	}
	return r;
}

/* SECTION.KEY as pip knows it: dashes, and small letters. */
static void name_key(char *name, size_t size, const char *section,
		     const char *key)
{
	(void)snprintf(name, size, "%s.%s", section, key);
	for (; *name; name++)
		*name = *name == '_' ? '-' : (char)tolower(*name);
}

/* A line that begins with a blank belongs to the key before. */
static int filter_pip(struct rc *rc, const char *text, struct buf *out)
{
	char line[LINE_SIZE], section[NAME_SIZE] = "", name[2 * NAME_SIZE] = "";
	bool is_open = false;
	int r = 0;

	while (r >= 0 && next_line(&text, line, &r)) {
		bool goes_on = line[0] == ' ' || line[0] == '\t';
		size_t n = strlen(line), from = out->len;
		char *value;

		if (is_comment(line))
			continue;
		if (line[0] == '[') {
			if (line[n - 1] != ']' || n >= NAME_SIZE)
				return -EINVAL;
			(void)snprintf(section, sizeof(section), "%.*s",
				       (int)n - 2, line + 1);
			(void)buf_add_fmt(out, "%s\n", line);
			name[0] = '\0';
			continue;
		}
		value = goes_on ? line + strspn(line, " \t")
				: part_line(line, "=:");
		if (!section[0] || !value || (goes_on && !name[0]) ||
		    strlen(line) >= NAME_SIZE)
			return -EINVAL;
		if (!goes_on)
			name_key(name, sizeof(name), section, line);
		/* It would belong to the key before. */
		if (goes_on && !is_open) {
			rc->n_left_out++;
			continue;
		}
		(void)buf_add_fmt(out, "%s%s", goes_on ? "   " : line,
				  goes_on ? " " : " = ");
		r = rc_add_value(rc, name, value, 0, out);
		if (r == 0)
			buf_cut(out, from);
		else
			(void)buf_add_char(out, '\n');
		is_open = goes_on ? is_open : r > 0;
	}
	return r;
}

int rc_filter(struct rc *rc, const char *text, size_t n, struct buf *out)
{
	static int (*const readers[])(struct rc *, const char *,
				      struct buf *) = {
		[RC_NPM] = filter_npm,	     [RC_PIP] = filter_pip,
		[RC_CARGO] = rc_filter_toml, [RC_UV] = rc_filter_toml,
		[RC_MISE] = rc_filter_toml,
	};
	int r;

	if (memchr(text, '\0', n))
		return -EINVAL;
	r = readers[rc->kind](rc, text, out);
	if (r >= 0)
		r = out->error;
	return r;
}
