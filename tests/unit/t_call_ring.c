/* SPDX-License-Identifier: Apache-2.0 */
/* soak-modes: root userns */
#include "box/notify/call_ring.h"

#include "tap.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Notes on their way from the notifier to the recorder. */

static struct call_ring ring;
static char path[PATH_MAX];

static struct call_note note_of(unsigned i, size_t length)
{
	(void)snprintf(path, sizeof(path), "/%08u", i);
	while (strlen(path) < length)
		strcat(path, "x");
	return (struct call_note){ .verb = (enum call_verb)(i % CALL_VERBS),
				   .pid = (pid_t)i,
				   .when = { .tv_sec = i, .tv_nsec = 7 },
				   .path = path,
				   .to = i % 3 == 0 ? "/to" : NULL,
				   .program = "program" };
}

static void expect(const struct call_note *got, unsigned i)
{
	char number[16];

	(void)snprintf(number, sizeof(number), "/%08u", i);
	CHECK_INT(got->verb, i % CALL_VERBS);
	CHECK_INT(got->pid, i);
	CHECK_INT(got->when.tv_sec, i);
	CHECK_INT(got->when.tv_nsec, 7);
	CHECK(strncmp(got->path, number, 9) == 0);
	CHECK((got->to != NULL) == (i % 3 == 0));
	CHECK(strcmp(got->program, "program") == 0);
}

static void notes_come_in_their_order_round_and_round(void)
{
	unsigned in = 0, out = 0;

	memset(&ring, 0, sizeof(ring));
	for (int round = 0; round < 50; round++) {
		uint64_t at = ring.taken;
		struct call_note got;

		for (;; in++) {
			struct call_note note = note_of(in, in * 37 % 3000);

			if (!call_ring_put(&ring, &note))
				break;
		}
		CHECK(call_ring_used(&ring) > CALL_RING_SIZE - 8192);
		/* Some stay for the next round. */
		for (int i = 0; i < 300 && call_ring_next(&ring, &at, &got);
		     i++)
			expect(&got, out++);
		call_ring_take(&ring, at);
	}
	CHECK(out > 10000);
}

static void a_reader_that_is_killed_leaves_its_notes_to_the_next(void)
{
	struct call_note note = note_of(4, 0), got;
	uint64_t at;

	memset(&ring, 0, sizeof(ring));
	CHECK(call_ring_put(&ring, &note));
	for (int i = 0; i < 2; i++) {
		at = ring.taken;
		CHECK(call_ring_next(&ring, &at, &got));
		expect(&got, 4);
		CHECK(!call_ring_next(&ring, &at, &got));
	}
	call_ring_take(&ring, at);
	CHECK_INT(call_ring_used(&ring), 0);
}

static void a_writer_that_is_killed_leaves_no_half_note(void)
{
	struct call_note note = note_of(5, 100), got;
	uint64_t at = 0, written;

	memset(&ring, 0, sizeof(ring));
	CHECK(call_ring_put(&ring, &note));
	written = ring.written;
	note = note_of(6, 100);
	CHECK(call_ring_put(&ring, &note));
	/* As if it had been killed before the last step. */
	ring.written = written;
	CHECK(call_ring_next(&ring, &at, &got));
	expect(&got, 5);
	CHECK(!call_ring_next(&ring, &at, &got));
}

TESTS(T(notes_come_in_their_order_round_and_round),
      T(a_reader_that_is_killed_leaves_its_notes_to_the_next),
      T(a_writer_that_is_killed_leaves_no_half_note))
