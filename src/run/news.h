/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_RUN_NEWS_H
#define HB_RUN_NEWS_H

#include <stdbool.h>

struct hb_listener;
struct hb_report;

/* A box knows no session: its name and the words that need it come here. */
struct news {
	const struct hb_listener *listener; /* may be NULL */
	const char *session;
};

/* For a listener of a box whose context is a struct news. */
bool news_hear(void *context, const struct hb_report *report);

#endif
