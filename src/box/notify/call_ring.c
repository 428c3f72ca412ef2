/* SPDX-License-Identifier: Apache-2.0 */
#include "box/notify/call_ring.h"

#include <string.h>

#define ALIGN 8U

/* In front of the strings; of a size that keeps the next one aligned. */
struct head {
	uint32_t size; /* of all, with the head; 0: go on at the start */
	uint16_t verb;
	uint16_t n_path, n_to, n_program; /* with their NUL; n_to: or 0 */
	int32_t pid;
	int64_t seconds;
	int64_t nanoseconds;
};

uint64_t call_ring_used(const struct call_ring *ring)
{
	return __atomic_load_n(&ring->written, __ATOMIC_ACQUIRE) -
	       __atomic_load_n(&ring->taken, __ATOMIC_ACQUIRE);
}

static char *add(char *p, const char *text, size_t n)
{
	if (n > 0)
		memcpy(p, text, n);
	return p + n;
}

bool call_ring_put(struct call_ring *ring, const struct call_note *note)
{
	struct head head = {
		.verb = (uint16_t)note->verb,
		.n_path = (uint16_t)(strlen(note->path) + 1),
		.n_to = (uint16_t)(note->to ? strlen(note->to) + 1 : 0),
		.n_program = (uint16_t)(strlen(note->program) + 1),
		.pid = note->pid,
		.seconds = note->when.tv_sec,
		.nanoseconds = note->when.tv_nsec,
	};
	uint64_t at = ring->written, begin = at % CALL_RING_SIZE;
	uint64_t rest = CALL_RING_SIZE - begin, skipped = 0;
	char *p;

	head.size = (uint32_t)((sizeof(head) + head.n_path + head.n_to +
				head.n_program + ALIGN - 1) /
			       ALIGN * ALIGN);
	/* In one piece: what does not fit at the end begins at the start. */
	if (rest < head.size)
		skipped = rest;
	if (call_ring_used(ring) + skipped + head.size > CALL_RING_SIZE)
		return false;
	if (skipped > 0) {
		const uint32_t none = 0;

		memcpy(ring->bytes + begin, &none, sizeof(none));
		begin = 0;
	}
	p = add(ring->bytes + begin, (const char *)&head, sizeof(head));
	p = add(p, note->path, head.n_path);
	p = add(p, note->to, head.n_to);
	(void)add(p, note->program, head.n_program);
	__atomic_store_n(&ring->written, at + skipped + head.size,
			 __ATOMIC_RELEASE);
	return true;
}

bool call_ring_next(const struct call_ring *ring, uint64_t *at,
		    struct call_note *ret)
{
	uint64_t end = __atomic_load_n(&ring->written, __ATOMIC_ACQUIRE);
	struct head head;
	const char *p;

	if (*at >= end)
		return false;
	p = ring->bytes + *at % CALL_RING_SIZE;
	memcpy(&head.size, p, sizeof(head.size));
	if (head.size == 0) {
		*at += CALL_RING_SIZE - *at % CALL_RING_SIZE;
		p = ring->bytes;
	}
	memcpy(&head, p, sizeof(head));
	p += sizeof(head);
	*ret = (struct call_note){
		.verb = head.verb,
		.pid = head.pid,
		.when = { .tv_sec = head.seconds, .tv_nsec = head.nanoseconds },
		.path = p,
		.to = head.n_to > 0 ? p + head.n_path : NULL,
		.program = p + head.n_path + head.n_to,
	};
	*at += head.size;
	return true;
}

void call_ring_take(struct call_ring *ring, uint64_t at)
{
	__atomic_store_n(&ring->taken, at, __ATOMIC_RELEASE);
}
