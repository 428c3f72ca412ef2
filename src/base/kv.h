/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_KV_H
#define HB_BASE_KV_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct hb_error;

/*
 * The grammar of session, profile and configuration files.
 *
 *	file	= *( line LF ) [ line ]
 *	line	= blank / blank "#" any / blank key blank "=" blank value blank
 *	blank	= *( SP / TAB )
 *	key	= a-z *( a-z / 0-9 / "." / "-" )
 *	value	= bare text / quoted as in base/quote.h
 *
 * Bare text is taken as it stands, without the blanks around it.  Control
 * characters other than TAB stand in no line: what has them is written quoted.
 * A "#" starts a comment only where it is the first in its line.  A key may
 * come more than once; what that means is the reader's business.
 */
#define KV_FILE_MAX  ((size_t)1 << 20) /* bytes in a file */
#define KV_LINE_MAX  ((size_t)1 << 16) /* bytes in a line, without its end */
#define KV_KEY_MAX   ((size_t)64)      /* bytes in a key */
#define KV_COUNT_MAX ((size_t)1 << 14) /* entries in a file */

struct kv_reader {
	const char *name; /* what messages call the file; borrowed */
	const char *text; /* what is still to be read; borrowed */
	size_t left;
	size_t line;  /* number of the line read last */
	size_t count; /* entries so far */
	struct buf value;
	int error; /* kept: a reader that has failed stays there */
};

struct kv_entry {
	char key[KV_KEY_MAX + 1];
	const char *value; /* NUL after it; valid until the next call */
	size_t len;	   /* the value may have a NUL inside */
	size_t line;
};

/*
 * Reads `n` bytes of `text`, which stay with the caller and must live as long
 * as the reader.  Cannot fail: a text that is too long makes the first
 * kv_next() fail.
 */
void kv_reader_init(struct kv_reader *k, const char *name, const void *text,
		    size_t n);
void kv_reader_done(struct kv_reader *k);

#define auto_kv_reader __attribute__((cleanup(kv_reader_done)))

/*
 * Gives the next entry.  Returns 1, 0 at the end, -HB_E_CONFIG with the name of
 * the file and the number of the line, or -ENOMEM.
 */
int kv_next(struct kv_reader *k, struct kv_entry *ret, struct hb_error *err);

/*
 * For what readers of entries find wrong themselves, in the same words: fails
 * with "NAME:LINE: " and the text.  Returns -HB_E_CONFIG.
 */
int kv_fail(const struct kv_reader *k, const struct kv_entry *entry,
	    struct hb_error *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Whether the value has no NUL inside and so is a string. */
bool kv_is_string(const struct kv_entry *entry);

struct kv_writer {
	struct buf *out; /* borrowed; holds this file alone */
	size_t count;
};

/* `out` is empty. */
void kv_writer_init(struct kv_writer *w, struct buf *out);

/*
 * Adds a line that reads back as exactly this key and these bytes.  The key is
 * valid by the grammar: anything else is a bug of the caller.  Returns 0 or the
 * buffer's error, which is kept there: -E2BIG also for what the limits above
 * would keep a reader from reading.
 */
int kv_add(struct kv_writer *w, const char *key, const void *value, size_t n);
int kv_add_str(struct kv_writer *w, const char *key, const char *value);
int kv_add_fmt(struct kv_writer *w, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
