/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/filter/rc_value.h"

#include "base/buf.h"
#include "plan/filter/logins.h"

#include <string.h>

/*
 * Lists of what is shown, because these files are made for tokens, and each
 * version of a manager knows more of them.  Nothing here makes a program of the
 * host run: it would run inside.
 */
#define VALUE_SIZE 4096

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
	auto_buf struct buf cut = BUF_INIT(VALUE_SIZE);
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
