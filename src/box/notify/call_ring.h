/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_NOTIFY_CALL_RING_H
#define HB_BOX_NOTIFY_CALL_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/*
 * Notes of calls, from the notifier to the recorder: memory that both share
 * with the supervisor, which outlives either.  One process writes, and one
 * reads.  A note is there as a whole or not at all, also if a process is killed
 * while it writes it.  It is taken only when the reader says so, and until then
 * the next reader finds it.
 */

#define CALL_RING_SIZE ((uint64_t)1 << 20)

/* What a call was about to do, as far as that can be seen before it is done. */
enum call_verb {
	CALL_CREATE,
	CALL_MODIFY,
	CALL_DELETE,
	CALL_MOVE,
	CALL_ATTRIB,
	CALL_EXEC,
	CALL_CONNECT,	/* which the box has no network for; path: address */
	CALL_NAMESPACE, /* which is refused */
	CALL_LOOK,	/* at a path that the view does not have */
	CALL_VERBS
};

/* One note; paths and program are as long as they are, with a NUL. */
struct call_note {
	enum call_verb verb;
	pid_t pid; /* the host's */
	struct timespec when;
	const char *path, *to, *program; /* `to` may be NULL */
};

struct call_ring {
	uint64_t written, taken; /* bytes so far; each is one process's */
	uint64_t lost;		 /* notes for which there was no room */
	uint64_t lost_told;	 /* of these */
	uint32_t n_gaps;	 /* times that a process of these was killed */
	uint32_t n_told;	 /* of these */
	char bytes[CALL_RING_SIZE] __attribute__((aligned(8)));
};

/* False: there is no room now. */
bool call_ring_put(struct call_ring *ring, const struct call_note *note);

/*
 * The note at *at, which goes behind it; begin with ring->taken.  False: there
 * is none.  The strings are in the ring: valid until they are taken.
 */
bool call_ring_next(const struct call_ring *ring, uint64_t *at,
		    struct call_note *ret);

/* All before `at` is taken: there is room for others. */
void call_ring_take(struct call_ring *ring, uint64_t at);

/* Bytes that are not taken. */
uint64_t call_ring_used(const struct call_ring *ring);

#endif
