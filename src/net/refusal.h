/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_NET_REFUSAL_H
#define HB_NET_REFUSAL_H

#include "net/sniff.h"

#include <stddef.h>

/*
 * A refusal in the protocol of the client, so that its program shows the
 * reason.  Pure.
 */
enum refusal_cause {
	REFUSAL_DENIED,	 /* a rule, or none */
	REFUSAL_NO_NAME, /* allowed, but there is no such name */
	REFUSAL_FAILED,	 /* allowed, but it cannot be reached */
};

#define REFUSAL_MAX   1024
#define REFUSAL_WORDS 480

/*
 * `words` is one line of ASCII, cut at REFUSAL_WORDS.  The number of bytes; 0:
 * the protocol has no words for it.
 */
size_t refusal_make(enum sniff_kind kind, enum refusal_cause cause,
		    const char *words, unsigned char out[REFUSAL_MAX]);

#endif
