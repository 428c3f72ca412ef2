/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/git/once.h"

#include "sys/place.h"

#include <errno.h>
#include <stdlib.h>

#define ROOM_FIRST 256 /* a power of two */

int once_init(struct once *once)
{
	*once = (struct once){ 0 };
	return sys_random(&once->key, sizeof(once->key));
}

void once_done(struct once *once)
{
	free(once->slots);
	*once = (struct once){ 0 };
}

/* Where it is, or would be; there is always a free slot. */
static size_t slot_of(const uint64_t *slots, size_t room, uint64_t value)
{
	size_t at = (size_t)value & (room - 1);

	while (slots[at] && slots[at] != value)
		at = (at + 1) & (room - 1);
	return at;
}

static int make_room(struct once *once)
{
	const size_t room = once->room ? 2 * once->room : ROOM_FIRST;
	uint64_t *slots;

	if (2 * once->n < once->room)
		return 0;
	slots = calloc(room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < once->room; i++)
		if (once->slots[i])
			slots[slot_of(slots, room, once->slots[i])] =
				once->slots[i];
	free(once->slots);
	once->slots = slots;
	once->room = room;
	return 0;
}

static uint64_t value_of(const struct once *once, const void *bytes, size_t n)
{
	const uint64_t value = siphash(&once->key, bytes, n);

	return value ? value : 1;
}

bool once_has(const struct once *once, const void *bytes, size_t n)
{
	return once->room > 0 && once->slots[slot_of(once->slots, once->room,
						     value_of(once, bytes, n))];
}

int once_add(struct once *once, const void *bytes, size_t n)
{
	const uint64_t value = value_of(once, bytes, n);
	size_t at;

	if (make_room(once) < 0)
		return -ENOMEM;
	at = slot_of(once->slots, once->room, value);
	if (once->slots[at])
		return 0;
	if (once->n < ONCE_MAX) {
		once->slots[at] = value;
		once->n++;
	}
	return 1;
}
