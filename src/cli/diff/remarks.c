/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/diff/remarks.h"

#include "base/error.h"
#include "cli/diff/paint.h"
#include "cli/diff/patch.h"
#include "cli/show/show.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES_MAX ((size_t)64 << 20)

static const char *const types[] = {
	[HB_TYPE_NONE] = "nothing",  [HB_TYPE_FILE] = "file",
	[HB_TYPE_DIR] = "directory", [HB_TYPE_LINK] = "symbolic link",
	[HB_TYPE_FIFO] = "fifo",     [HB_TYPE_SOCKET] = "socket",
	[HB_TYPE_DEVICE] = "device",
};

void remark_words(struct patch *p, const struct hb_change *change,
		  const char *fmt, ...)
{
	auto_buf struct buf line = BUF_INIT(PATH_BYTES_MAX);
	va_list ap;

	(void)show_path(p->info, change, change->path, &line);
	(void)buf_add_str(&line, ": ");
	va_start(ap, fmt);
	(void)buf_add_vfmt(&line, fmt, ap);
	va_end(ap);
	if (line.error)
		(void)buf_fail(&p->paint->out, line.error);
	else
		paint_words(p->paint, PAINT_META, "# %s", buf_str(&line));
}

static bool is_special(enum hb_type type)
{
	return type == HB_TYPE_FIFO || type == HB_TYPE_SOCKET ||
	       type == HB_TYPE_DEVICE;
}

/* What a new file gets from git under the usual masks. */
static bool is_usual(unsigned mode)
{
	return mode == 0644 || mode == 0664 || mode == 0755 || mode == 0775;
}

static void remark_mode(struct patch *p, const struct hb_change *c)
{
	unsigned old = c->old.mode, new = c->new.mode;

	if (c->new.type != HB_TYPE_FILE && c->new.type != HB_TYPE_DIR)
		return;
	if (c->old.type != c->new.type) {
		if (c->new.type == HB_TYPE_FILE && !is_usual(new))
			remark_words(p, c, "mode %04o", new);
		return;
	}
	if (old != new && !(c->new.type == HB_TYPE_FILE &&is_usual(old) &&
			    is_usual(new) && (old ^ new) & 0100))
		remark_words(p, c, "mode %04o -> %04o", old, new);
}

static void remark_attributes(struct patch *p, const struct hb_change *c)
{
	static const struct {
		unsigned differs;
		const char *words;
	} table[] = {
		{ HB_DIFFERS_XATTRS, "other extended attributes or ACL" },
		{ HB_DIFFERS_LINKS, "one file with other names" },
	};

	remark_mode(p, c);
	if (c->old.type != HB_TYPE_NONE && c->new.type != HB_TYPE_NONE &&
	    (c->old.uid != c->new.uid || c->old.gid != c->new.gid))
		remark_words(p, c, "owner %u:%u -> %u:%u", c->old.uid,
			     c->old.gid, c->new.uid, c->new.gid);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (c->differs & table[i].differs)
			remark_words(p, c, "%s", table[i].words);
	if (c->kind == 't')
		remark_words(p, c, "time of modification");
}

void remark_change(struct patch *p, const struct hb_change *change,
		   bool is_left_out)
{
	if (change->has_conflict)
		remark_words(p, change, "conflict: %s",
			     change->why ? change->why : "changed");
	if (change->is_git) {
		remark_words(p, change, "git repository");
		return;
	}
	if (is_left_out)
		remark_words(
			p, change,
			"%s -> %s, not in this patch: git applies nothing in a .git",
			types[change->old.type], types[change->new.type]);
	if (is_special(change->old.type) || is_special(change->new.type))
		remark_words(p, change, "%s -> %s", types[change->old.type],
			     types[change->new.type]);
	remark_attributes(p, change);
}

void remark_directory(struct patch *p)
{
	const struct hb_change change = {
		.kind = p->last_kind,
		.is_directory = true,
		.resource = p->last_resource,
		.path = buf_str(&p->last),
	};

	remark_words(p, &change, "empty directory %s",
		     p->last_kind == 'A' ? "added" : "deleted");
}

/* "12 bytes, sha256 …", or why there is no more to say. */
static int add_facts(struct patch *p, enum hb_side which, struct buf *out,
		     struct hb_error *err)
{
	const struct side *side = &p->sides.of[which];
	char hex[SHA256_HEX_SIZE];
	struct hb_error why = { 0 };
	int r;

	if (!side->is_there)
		return buf_add_str(out, "nothing");
	(void)buf_add_fmt(out, "%llu byte%s", (unsigned long long)side->size,
			  side->size == 1 ? "" : "s");
	if (side->size > SIDES_HASHED)
		return buf_add_str(out, ", too large for a sha256");
	r = side->error < 0 ? side->error
			    : sides_sha256(&p->sides, which, hex, &why);
	if (r == -ENOMEM)
		return hb_pass(err, &why, r);
	if (r < 0)
		return buf_add_fmt(out, ", cannot be read: %s",
				   hb_strerror(-r));
	return buf_add_fmt(out, ", sha256 %s", hex);
}

int remark_folded(struct patch *p, const struct hb_change *change,
		  struct hb_error *err)
{
	auto_buf struct buf facts = BUF_INIT(1024);
	int r;

	r = add_facts(p, HB_SIDE_OLD, &facts, err);
	if (r < 0)
		return r;
	(void)buf_add_str(&facts, " -> ");
	r = add_facts(p, HB_SIDE_NEW, &facts, err);
	if (r < 0)
		return r;
	remark_words(p, change, "%s", buf_str(&facts));
	return 0;
}
