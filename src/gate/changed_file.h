/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_CHANGED_FILE_H
#define HB_GATE_CHANGED_FILE_H

#include "base/sha256.h"
#include "changes/changes.h"
#include "gate/gate.h"
#include "gate/rules.h"
#include "git/gitobject.h"
#include "tree/content.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One change under the eyes of the gate.  Private to src/gate.
 *
 * Contents are opened at the first need, and once for all rules.
 */
struct scan_finding;

enum look_side {
	LOOK_OLD, /* what is at the same path; never where it came from */
	LOOK_NEW,
	LOOK_SIDES
};

/* Reads an object of git as objectstore_read() does; the look frees it. */
typedef int (*look_load_fn)(void *ctx, enum look_side side,
			    struct git_object *ret_object);

struct look {
	const struct gate_request *request;
	struct scan *scan; /* for secrets; the look does not own it */
	struct change change;
	struct content_walk walks[LOOK_SIDES];
	int fds[LOOK_SIDES];	/* -1: not open */
	int errors[LOOK_SIDES]; /* why it could not be opened; 0 */
	/* The sides are objects of git, and no files; or NULL. */
	look_load_fn load;
	void *load_ctx;
	struct git_object objects[LOOK_SIDES]; /* without data: not loaded */
};

void look_init(struct look *look, const struct gate_request *request);
void look_done(struct look *look);

/* Goes on with another change, which stays the stream's. */
void look_begin(struct look *look, const struct change *change);

/*
 * The same for a change between two objects of git.  The new one is loaded, as
 * far as it can be, and the change gets its size.
 */
void look_begin_objects(struct look *look, const struct change *change,
			look_load_fn load, void *ctx);

/*
 * Gives back the mode of a directory that was opened up; owed after the last
 * change.
 */
int look_end(struct look *look, struct hb_error *err);

/* Whether that side is a regular file. */
bool look_is_file(const struct look *look, enum look_side side);

/*
 * A descriptor of that side's regular file, which the look keeps.  -EACCES and
 * the like without words; what makes the whole gate fail has words.
 */
int look_open(struct look *look, enum look_side side, struct hb_error *err);

/* A file that says more than this about itself is a finding. */
#define LOOK_TEXT_MAX ((uint64_t)4 << 20)

/*
 * The bytes of that side's regular file, and a NUL; the caller frees.  As
 * look_open(), or -E2BIG.
 */
int look_text(struct look *look, enum look_side side, char **ret_text,
	      size_t *ret_n, struct hb_error *err);

/*
 * The first bytes of it, as many as there are.  Fails as look_open() does.
 */
ssize_t look_head(struct look *look, enum look_side side, char *buf,
		  size_t size, struct hb_error *err);

/* Tells the secrets of that side, as scan_fd().  Fails as look_open() does. */
int look_scan(struct look *look, enum look_side side,
	      int (*found)(void *ctx, const struct scan_finding *finding,
			   struct hb_error *err),
	      void *ctx, struct hb_error *err);

/*
 * Names the new content; what is no file or link, or larger than LOOK_NAMED_MAX
 * or unreadable, has the name of nothing.
 */
#define LOOK_NAMED_MAX ((uint64_t)64 << 20)
void look_name(struct look *look, uint8_t ret_name[SHA256_SIZE]);

/* The target of the new symbolic link. */
ssize_t look_target(struct look *look, char *buf, size_t size,
		    struct hb_error *err);

/* Whether the failure ends the gate, rather than being a finding. */
bool look_is_fatal(int r);

#endif
