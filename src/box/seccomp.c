/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/seccomp.h"

#include "box/door.h"
#include "box/filter/filter.h"
#include "box/state.h"
#include "filter_table.h"
#include "sys/file.h"

#include <string.h>

/*
 * The default filter, generated at build time, and filters the caller brought
 * as raw programs.  The last word is always the strictest one's.
 */

static unsigned find_variant(const struct box *box)
{
	static const struct {
		unsigned setting;
		unsigned variant;
	} bits[] = {
		{ PLAN_FILTER_NO_PTRACE, FILTER_NO_PTRACE },
		{ PLAN_FILTER_NESTED, FILTER_NESTED },
		{ PLAN_BARE, FILTER_BARE },
		{ PLAN_NO_SOCKETS, FILTER_NO_SOCKETS },
		{ PLAN_FILTER_NO_SETID, FILTER_NO_SETID },
	};
	unsigned variant = FILTER_DEFAULT;

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (is_set(box, bits[i].setting))
			variant |= bits[i].variant;
	return variant;
}

static int load_default(const struct box *box, struct hb_error *err)
{
	const struct k_sock_fprog *program = &filter_table[find_variant(box)];
	int r;

	if (!is_set(box, PLAN_FILTER))
		return 0;
	r = sys_seccomp_load(program->filter, program->len);
	if (r < 0)
		return hb_fail(err, r, "cannot load the default filter");
	return 0;
}

/* The places of the classes that are to be heard. */
static void hear(const struct box *box, const struct filter_place *place,
		 struct k_sock_filter *code)
{
	for (; place->class < FILTER_CLASSES; place++)
		if (box->heard & 1U << place->class)
			code[place->at].k = place->class == FILTER_REFUSED
						    ? K_SECCOMP_RET_USER_NOTIF
						    : (uint32_t)place->nr;
}

/* The default program without what another program asks a listener about. */
static int load_beside(const struct box *box)
{
	unsigned variant = find_variant(box);
	const struct k_sock_fprog *program = &filter_table[variant];
	const struct filter_place *place = filter_notified[variant];
	struct k_sock_filter code[FILTER_LONGEST];

	memcpy(code, program->filter, program->len * sizeof(*code));
	for (; place->class < FILTER_CLASSES; place++)
		if (place->class == FILTER_REFUSED &&
		    box->heard & 1U << FILTER_REFUSED)
			code[place->at].k = K_SECCOMP_RET_ALLOW;
	return sys_seccomp_load(code, program->len);
}

#define WATCHED (1U << FILTER_CALLS | 1U << FILTER_LOOKS)

/*
 * The same with a listener, which goes to the supervisor.  -errno without
 * words: then load_default() has to follow.  It refuses by itself, also on top
 * of the program that this has loaded.  Calls that only a listener lets go on
 * would fail there: the box is deaf.  So is a box whose calls are not recorded
 * as it was asked for.
 */
static int load_heard(struct box *box)
{
	unsigned variant = find_variant(box);
	bool is_watched = box->heard & WATCHED;
	const struct k_sock_fprog *program =
		is_watched ? &filter_watch : &filter_table[variant];
	struct k_sock_filter code[FILTER_LONGEST];
	int fd, r;

	memcpy(code, program->filter, program->len * sizeof(*code));
	hear(box, is_watched ? filter_watched : filter_notified[variant], code);
	box->is_deaf = is_watched;
	fd = sys_seccomp_load_notifying(code, program->len);
	if (fd < 0)
		return fd;
	r = box->door >= 0 ? door_send_listener(box->door, fd)
			   : message_send_fd(box->report, MESSAGE_LISTENER, fd);
	sys_close(fd);
	if (r >= 0 && is_watched)
		r = load_beside(box);
	box->is_deaf = r < 0 && box->heard & ~(1U << FILTER_REFUSED);
	return r;
}

static int load_given(const struct box *box, struct hb_error *err)
{
	for (size_t i = 0; i < box->n_filters; i++) {
		int r = sys_seccomp_load(box->filters[i].code,
					 box->filters[i].n);

		if (r < 0)
			return hb_fail(err, r, "prctl(PR_SET_SECCOMP)");
	}
	return 0;
}

int seccomp_load_plain(const struct box *box, struct hb_error *err)
{
	int r = load_default(box, err);

	return r < 0 ? r : load_given(box, err);
}

int step_seccomp(struct box *box, struct hb_error *err)
{
	if (box->heard && load_heard(box) < 0)
		box->heard = 0;
	return box->heard ? load_given(box, err) : seccomp_load_plain(box, err);
}
