/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_CLI_DIFF_SIDES_H
#define HB_CLI_DIFF_SIDES_H

#include "base/sha1.h"
#include "base/sha256.h"
#include "holdback/session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The two contents of a change.  A file larger than SIDES_WHOLE is never in
 * memory as a whole.  Of two texts together no more than SIDES_LINES lines are
 * compared: a diff takes some hundred bytes for each.
 */
#define SIDES_WHOLE ((uint64_t)8 << 20)
#define SIDES_LINES 200000

/* Beyond this, no SHA-256 is made just to be shown. */
#define SIDES_HASHED ((uint64_t)1 << 30)

struct side {
	bool is_there; /* a file or a link: something that git knows */
	bool is_link;
	unsigned mode; /* as git writes it: 0100644, 0100755, 0120000 */
	uint64_t size;
	char *bytes; /* is_whole: as many as `size` says */
	bool is_whole;
	int error; /* it cannot be read: a negated code */
};

struct sides {
	struct hb_changes *changes;
	struct side of[2]; /* by enum hb_side */
	char *room[2];	   /* SIDES_WHOLE bytes, kept from change to change */
};

void sides_init(struct sides *s, struct hb_changes *changes);
void sides_done(struct sides *s);

/*
 * Looks at the sides of the change that was given last, and reads those that
 * may be in memory.  `with_content` false: none.  Fails only for lack of
 * memory; what cannot be read is told by side.error.
 */
int sides_load(struct sides *s, const struct hb_change *change,
	       bool with_content, struct hb_error *err);

/* Whether there are two sides: the file was neither added nor deleted. */
bool sides_are_both(const struct sides *s);

/* Whether all that is there is in memory. */
bool sides_are_whole(const struct sides *s);

/* Whether both can be shown as lines: neither large, long, nor binary. */
bool sides_are_text(const struct sides *s);

/* How many lines the bytes have; a last one may lack its end. */
uint64_t sides_count_lines(const struct side *side);

/*
 * The name that git gives to the content, and its SHA-256; of a side that is
 * not there, zeroes.  Reads what is not in memory.
 */
int sides_git_name(struct sides *s, enum hb_side which,
		   char ret_hex[SHA1_HEX_SIZE], struct hb_error *err);
int sides_sha256(struct sides *s, enum hb_side which,
		 char ret_hex[SHA256_HEX_SIZE], struct hb_error *err);

/*
 * Gives the content piece by piece to `fn`, which returns less than 0 to stop.
 * Ends with -HB_E_BUSY if it has not got as many bytes as `size` says.
 */
typedef int (*side_fn)(void *ctx, const char *bytes, size_t n,
		       struct hb_error *err);
int sides_stream(struct sides *s, enum hb_side which, side_fn fn, void *ctx,
		 struct hb_error *err);

#endif
