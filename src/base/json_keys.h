/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_JSON_KEYS_H
#define HB_BASE_JSON_KEYS_H

#include <stddef.h>

struct buf;

/*
 * The members of one JSON object, as bytes: for taking some of them from one
 * text to another without a look at what they mean.  Any bytes may come in;
 * memory and depth are bounded.
 */

/* Deeper texts are refused. */
#define JSON_READ_DEPTH_MAX 256

/* 0 if the text is one object and nothing else, by RFC 8259; else -EINVAL. */
int json_check_object(const char *text, size_t n);

/*
 * Writes `host` to `out`, with the members that `keys` names taken from `ours`.
 * Names have commas between them.  A member that `ours` lacks stays.  Both are
 * one object each.  A name counts only if it is spelled without escapes.
 *
 * -EINVAL if one of the texts is not an object, or has such a name twice;
 * -ENOMEM, -E2BIG of the buffer.
 */
int json_take_keys(const char *host, size_t n_host, const char *ours,
		   size_t n_ours, const char *keys, struct buf *out);

/* A member of an object at any depth, as it is spelled. */
struct json_member {
	size_t depth; /* 1: of the outermost object */
	const char *key;
	size_t n_key;
	const char *value; /* with its quotes; NULL: an object or an array */
	size_t n;
};

/* Calls `fn` for every member, in their order.  -EINVAL as above. */
typedef void (*json_member_fn)(void *ctx, const struct json_member *member);
int json_each_member(const char *text, size_t n, json_member_fn fn, void *ctx);

#endif
