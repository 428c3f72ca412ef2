/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "plan/filter/rc.h"
#include "tap.h"

#include <errno.h>
#include <string.h>

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

struct row {
	enum rc_kind kind;
	const char *text, *want; /* NULL: it is not understood */
	size_t n_left_out;
};

static bool is_secret(void *ctx, const char *name, const char *value, size_t n)
{
	(void)ctx;
	(void)name;
	(void)n;
	return strstr(value, "hunter2");
}

static void check(const struct row *row)
{
	auto_buf struct buf out = BUF_INIT(100000);
	struct rc rc = { .kind = row->kind, .is_secret = is_secret };
	int r = rc_filter(&rc, row->text, strlen(row->text), &out);

	if ((r >= 0) != (row->want != NULL) ||
	    (r >= 0 && strcmp(buf_str(&out), row->want) != 0))
		printf("# %s\n# gives %d:\n# %s\n", row->text, r,
		       buf_str(&out));
	CHECK_INT(r < 0 ? r : 0, row->want ? 0 : -EINVAL);
	if (!row->want)
		return;
	CHECK(strcmp(buf_str(&out), row->want) == 0);
	CHECK_INT(rc.n_left_out, row->n_left_out);
}

static void npm(void)
{
	static const struct row rows[] = {
		{ RC_NPM, "", "", 0 },
		{ RC_NPM,
		  "; c\n# c\n\nregistry=https://r.example.org/\n"
		  "@mine:registry = https://m.example.org/\nstrict-ssl=false\n",
		  "registry = https://r.example.org/\n"
		  "@mine:registry = https://m.example.org/\n"
		  "strict-ssl = false\n",
		  0 },
		{ RC_NPM,
		  "//r.example.org/:_authToken=x\n_auth=x\n_password=x\n"
		  "email=x\nkey=x\nunknown=x\nignore-scripts\n",
		  "ignore-scripts = true\n", 6 },
		{ RC_NPM, "registry=https://ann:pw@r.example.org/\n",
		  "registry = https://r.example.org/\n", 1 },
		{ RC_NPM, "https-proxy=ann:pw@p:1\n", "https-proxy = p:1\n",
		  1 },
		{ RC_NPM, "registry=https://r/?token=x\n", "", 1 },
		{ RC_NPM, "registry=https://ann:p/w@r.example.org/\n", "", 1 },
		{ RC_NPM, "prefix=hunter2\n", "", 1 },
		{ RC_NPM, "omit[]=dev\nca[]=x\n", "omit[] = dev\n", 1 },
		{ RC_NPM, "[section]\nregistry=x\n", NULL, 0 },
		{ RC_NPM, "registry=\x01\n", NULL, 0 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++)
		check(&rows[i]);
}

static void pip(void)
{
	static const struct row rows[] = {
		{ RC_PIP,
		  "[global]\nindex-url = https://ann:pw@i.example.org/simple\n"
		  "trusted_host: i.example.org\nclient-cert = ~/key.pem\n",
		  "[global]\nindex-url = https://i.example.org/simple\n"
		  "trusted_host = i.example.org\n",
		  2 },
		{ RC_PIP,
		  "[global]\nextra-index-url =\n  https://a/\n"
		  "  https://ann:pw@b/\n# c\n  hunter2\n",
		  "[global]\nextra-index-url = \n    https://a/\n"
		  "    https://b/\n",
		  2 },
		/* More lines of a key that is left out are no part of others.
		 */
		{ RC_PIP,
		  "[global]\ntimeout = 3\npassword =\n  x\n  y\n"
		  "cert = hunter2\n  z\n",
		  "[global]\ntimeout = 3\n", 5 },
		{ RC_PIP, "index-url = x\n", NULL, 0 },
		{ RC_PIP, "[global]\n  x\n", NULL, 0 },
		{ RC_PIP, "[global\nindex-url = x\n", NULL, 0 },
		{ RC_PIP, "[global]\nindex-url\n", NULL, 0 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++)
		check(&rows[i]);
}

static void toml(void)
{
	static const struct row rows[] = {
		{ RC_CARGO, "[registry]\ndefault = \"mine\"\ntoken = \"x\"\n",
		  "[registry]\ndefault = \"mine\"\n", 1 },
		{ RC_CARGO,
		  "[registries]\nmine = { index = "
		  "\"sparse+https://ann:pw@r.example.org/\", token = \"x\" }\n",
		  "[registries]\nmine.index = \"sparse+https://r.example.org/\"\n",
		  2 },
		{ RC_CARGO,
		  "# c\n[source.crates-io] # c\nreplace-with = 'm' # c\n"
		  "[target.'cfg(unix)']\nrustflags = [\n  \"-C\", # c\n"
		  "  \"link-arg=-fuse-ld=mold\",\n]\n[env]\nKEY = \"x\"\n",
		  "[source.crates-io]\nreplace-with = 'm'\n"
		  "[target.'cfg(unix)']\nrustflags = [\n  \"-C\", # c\n"
		  "  \"link-arg=-fuse-ld=mold\",\n]\n",
		  1 },
		{ RC_CARGO, "net.retry = 3\nnet.token.retry = 3\n",
		  "net.retry = 3\n", 1 },
		{ RC_CARGO,
		  "[source.\"https://ann:pw@r/\"]\nreplace-with = \"m\"\n", "",
		  1 },
		{ RC_CARGO, "[alias]\nb = [\"https://ann:pw@r/\"]\n", "", 1 },
		{ RC_CARGO, "[http]\nproxy = \"ann:pw@p:1\"\n",
		  "[http]\nproxy = \"p:1\"\n", 1 },
		{ RC_UV,
		  "[[index]]\nurl = \"https://ann:pw@i/\"\ntoken = \"x\"\n"
		  "[[index]]\nname = \"b\"\n",
		  "[[index]]\nurl = \"https://i/\"\n[[index]]\nname = \"b\"\n",
		  2 },
		{ RC_MISE,
		  "[tools]\nnode = \"22\"\npython = [\"3.12\"]\n[env]\nA = 1\n",
		  "[tools]\nnode = \"22\"\npython = [\"3.12\"]\n", 1 },
		{ RC_CARGO, "a = \"\"\"x\"\"\"\n", NULL, 0 },
		{ RC_CARGO, "a = \"x\n", NULL, 0 },
		{ RC_CARGO, "a = [1\n", NULL, 0 },
		{ RC_CARGO, "a = { b = 1\n", NULL, 0 },
		{ RC_CARGO, "a = 1 2\n", NULL, 0 },
		{ RC_CARGO, "[a\n", NULL, 0 },
		{ RC_CARGO, "= 1\n", NULL, 0 },
		{ RC_CARGO, "a\n", NULL, 0 },
		{ RC_CARGO, "a={b={c={d={e={f=1}}}}}}\n", NULL, 0 },
	};

	for (size_t i = 0; i < LENGTH(rows); i++)
		check(&rows[i]);
}

static void a_zero_byte_is_not_understood(void)
{
	static const char text[] = "registry=a\0b\n";
	auto_buf struct buf out = BUF_INIT(100);
	struct rc rc = { .kind = RC_NPM };

	CHECK_INT(rc_filter(&rc, text, sizeof(text) - 1, &out), -EINVAL);
}

TESTS(T(npm), T(pip), T(toml), T(a_zero_byte_is_not_understood))
