/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_NET_HOSTNAME_H
#define HB_NET_HOSTNAME_H

#include <stdbool.h>
#include <stddef.h>

/* A name of a host as the DNS can carry it. */
#define HOSTNAME_MAX   253
#define HOSTNAME_SIZE  (HOSTNAME_MAX + 1)
#define HOSTNAME_LABEL 63

/*
 * Writes the `n` bytes in lower case and without one last dot.  Letters,
 * digits,
 * '-' and '_' in labels of up to 63 bytes are a name.  A last label that is a
 * number, also hexadecimal, is none: "2130706433" and "0x7f.1" are addresses to
 * many programs.  False leaves `out` undefined.
 */
bool hostname_normalize(const char *in, size_t n, char out[HOSTNAME_SIZE]);

/* Both normalized: whether `host` lies below `domain`, and is not it. */
bool hostname_is_below(const char *host, const char *domain);

/*
 * Whether a list as NO_PROXY has it names this host, which is normalized.  Its
 * words stand between commas or blanks.  "a.b", ".a.b" and "*.a.b" are a.b and
 * all below it, "*" is every host.  Words that are no names name none.
 */
bool hostname_is_listed(const char *host, const char *list);

#endif
