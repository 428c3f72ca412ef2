/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/filter/view_git.h"

#include "base/buf.h"
#include "base/gitconfig.h"
#include "plan/filter/logins.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define TEXT_SIZE ((size_t)1 << 20)

/*
 * Patterns for whole names, which are compared in lower case; `*` is any bytes.
 * A list of what is shown would be shorter and would break git: without
 * filter.lfs it adds large files as they are, and says nothing.
 */
static const char *const left_out[] = {
	"credential.*",	   "http.extraheader",	"http.*.extraheader",
	"http.cookiefile", "http.*.cookiefile", "*.smtppass",
	"imap.pass",	   "*token*",		"*password*",
	"*passwd*",	   "*secret*",
};

static bool is_left_out(const char *name)
{
	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
		if (login_name_fits(left_out[i], name))
			return true;
	return false;
}

/* In quotes everything is itself but for these. */
static void add_quoted(struct buf *out, const char *text)
{
	static const char from[] = "\t\b\n\\\"", to[] = "tbn\\\"";

	(void)buf_add_char(out, '"');
	for (; *text; text++) {
		const char *at = strchr(from, *text);

		if (at)
			(void)buf_add_char(out, '\\');
		if (at)
			(void)buf_add_char(out, to[at - from]);
		else
			(void)buf_add_char(out, *text);
	}
	(void)buf_add_char(out, '"');
}

struct filter {
	struct view_git *git;
	struct buf *out;
};

static void add_section(struct buf *out, const char *name, const char *dot,
			const char *sub)
{
	(void)buf_add_char(out, '[');
	(void)buf_add(out, name, (size_t)(dot - name));
	if (sub) {
		(void)buf_add_str(out, " \"");
		/* Here a backslash only says that the next byte is itself. */
		for (; *sub; sub++) {
			if (*sub == '"' || *sub == '\\')
				(void)buf_add_char(out, '\\');
			(void)buf_add_char(out, *sub);
		}
		(void)buf_add_char(out, '"');
	}
	(void)buf_add_str(out, "]\n\t");
}

/* 0: it was written; 1: it is left out. */
static int add_shown(const struct filter *f, const struct gitconfig_key *key)
{
	auto_buf struct buf sub = BUF_INIT(TEXT_SIZE);
	auto_buf struct buf value = BUF_INIT(TEXT_SIZE);
	auto_buf struct buf middle = BUF_INIT(TEXT_SIZE);
	const char *dot = strchr(key->name, '.');
	const char *last = strrchr(key->name, '.');
	enum login_cut cut_sub = LOGIN_CUT_NONE, cut_value = LOGIN_CUT_NONE;

	if (last != dot) {
		(void)buf_add(&middle, dot + 1, (size_t)(last - dot - 1));
		cut_sub = login_cut(buf_str(&middle), false, &sub);
	}
	if (key->value)
		cut_value =
			login_cut(key->value,
				  login_name_fits("*proxy", key->name), &value);
	if (sub.error || value.error || middle.error)
		return -E2BIG;
	if (cut_sub == LOGIN_CUT_ALL || cut_value == LOGIN_CUT_ALL ||
	    (f->git->is_secret &&
	     (f->git->is_secret(f->git->ctx, last + 1,
				key->value ? buf_str(&value) : "", value.len) ||
	      f->git->is_secret(f->git->ctx, last + 1, buf_str(&sub),
				sub.len))))
		return 1;
	add_section(f->out, key->name, dot, last != dot ? buf_str(&sub) : NULL);
	(void)buf_add_str(f->out, last + 1);
	if (key->value) {
		(void)buf_add_str(f->out, " = ");
		add_quoted(f->out, buf_str(&value));
	}
	(void)buf_add_char(f->out, '\n');
	if (cut_sub == LOGIN_CUT_SOME || cut_value == LOGIN_CUT_SOME)
		f->git->n_left_out++;
	return f->out->error ? -E2BIG : 0;
}

bool view_git_signs(const struct gitconfig_key *key)
{
	static const char *const names[] = { "commit.gpgsign", "tag.gpgsign",
					     "tag.forcesignannotated" };
	static const char *const off[] = { "false", "no", "off", "0", "" };
	bool is_one = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		is_one = is_one || strcmp(key->name, names[i]) == 0;
	for (size_t i = 0; key->value && i < sizeof(off) / sizeof(off[0]); i++)
		if (strcasecmp(key->value, off[i]) == 0)
			return false;
	return is_one;
}

/* Keys whose value is a file that git reads. */
static const struct {
	const char *pattern;
	enum view_git_file kind;
} file_keys[] = {
	{ "include.path", VIEW_GIT_INCLUDED },
	{ "includeif.*.path", VIEW_GIT_INCLUDED },
	{ "core.excludesfile", VIEW_GIT_PATTERNS },
	{ "core.attributesfile", VIEW_GIT_PATTERNS },
	{ "http.sslcainfo", VIEW_GIT_AUTHORITIES },
	{ "http.*.sslcainfo", VIEW_GIT_AUTHORITIES },
};

static int add_key(void *ctx, const struct gitconfig_key *key)
{
	const struct filter *f = ctx;
	int r;

	/* A section without a name has no place to be written. */
	if (!strchr(key->name, '.') || key->name[0] == '.')
		return -EINVAL;
	f->git->signs = f->git->signs || view_git_signs(key);
	r = is_left_out(key->name) ? 1 : add_shown(f, key);
	if (r == 1) {
		f->git->n_left_out++;
		return 0;
	}
	for (size_t i = 0; r >= 0 && key->value && f->git->file &&
			   i < sizeof(file_keys) / sizeof(file_keys[0]);
	     i++)
		if (login_name_fits(file_keys[i].pattern, key->name))
			f->git->file(f->git->ctx, file_keys[i].kind,
				     key->value);
	return r;
}

int view_git_filter(struct view_git *git, const char *text, size_t n,
		    struct buf *out)
{
	static const char mark[] = "\xef\xbb\xbf";
	struct filter f = { git, out };

	if (memchr(text, '\0', n))
		return -EINVAL;
	if (n >= 3 && memcmp(text, mark, 3) == 0) {
		text += 3;
		n -= 3;
	}
	return gitconfig_read(text, n, add_key, &f);
}
