/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_NET_SNIFF_H
#define HB_NET_SNIFF_H

#include "net/hostname.h"

#include <stddef.h>

/*
 * The protocol of a connection by the first bytes of its client, and the name
 * that is asked for in them.  Pure; every byte is hostile.
 */
/* clang-format off */
#define SNIFF_KINDS(ROW) \
	ROW(MORE, "none") /* cannot be told yet */ \
	ROW(TLS, "tls") \
	ROW(HTTP, "http") \
	ROW(SSH, "ssh") \
	ROW(OTHER, "other")

#define SNIFF_ID(id, word) SNIFF_##id,
enum sniff_kind {
	SNIFF_KINDS(SNIFF_ID)
	SNIFF_END
};
#undef SNIFF_ID
/* clang-format on */

/* A greeting that does not end within these bytes has no name. */
#define SNIFF_MAX 16384

/*
 * `ret_host` is the normalized name, or "" if there is none, or more than one,
 * or something that cannot be one.
 */
enum sniff_kind sniff(const unsigned char *in, size_t n,
		      char ret_host[HOSTNAME_SIZE]);

const char *sniff_name(enum sniff_kind kind);

#endif
