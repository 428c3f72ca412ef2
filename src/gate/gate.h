/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GATE_GATE_H
#define HB_GATE_GATE_H

#include "changes/filter.h"
#include "gate/class.h"
#include "gate/severity.h"

#include <stdbool.h>
#include <stdint.h>

struct hb_error;
struct objectstore;
struct resource;

/*
 * The gate: rules over a change set.  It reads the same stream that commit
 * applies, and contents only of the very objects in it, by descriptor.  It
 * changes nothing, and its memory does not grow with the stream.
 */

/* Something that a rule has to say about one change. */
struct gate_finding {
	const char *rule; /* its id, as --allow names it */
	enum gate_severity severity;
	enum gate_class class;
	const char *path;   /* relative to the resource, any bytes */
	uint64_t line;	    /* of the new content, from 1; 0: all of it */
	const char *detail; /* what exactly, any bytes but NUL; or NULL */
	const char *reason; /* why it matters, for people */
	/*
	 * git has it at this path of the work tree.  The git directory is
	 * relative to the resource; "." is the resource itself.  The commit is
	 * NULL for an index.  All three are NULL for a file.
	 */
	const char *repository, *commit, *ref;
};

/* Lives as long as the call.  A negated code ends gate_run() with it. */
typedef int (*gate_found_fn)(void *ctx, const struct gate_finding *finding,
			     struct hb_error *err);

struct gate_request {
	struct changes *changes; /* read from its start to its end */
	const struct resource *resource;
	const struct changes_choice *choice; /* what of it is to be committed */
	const struct gate_rules *rules;
	/*
	 * What the rules take for the path above it: ".git" for a resource that
	 * is a repository's directory itself.  "": nothing.
	 */
	const char *prefix;
	/*
	 * Names above that, or above the resource: what built-in patterns are
	 * about as well.  "": none.
	 */
	const char *above;
	/*
	 * All objects of a git directory of the resource, for the gate to free,
	 * also after a failure.
	 */
	int (*objects)(const struct resource *resource, const char *prefix,
		       struct objectstore **ret_objects);
	bool is_home; /* the resource is the home directory, or holds it */
	bool is_git;  /* and all of it is such a directory's inside */
};

/*
 * Tells every finding, in the order of the stream; those about all of it come
 * last.  What cannot be read or understood is a finding of the rule that wanted
 * to, not a pass.  -HB_E_BUSY: something is not what was compared any more.
 */
int gate_run(const struct gate_request *request, gate_found_fn found, void *ctx,
	     struct hb_error *err);

#endif
