/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_FILTER_CERTIFICATES_H
#define HB_PLAN_FILTER_CERTIFICATES_H

#include <stddef.h>

struct buf;

/*
 * Adds the certificates of a PEM file to `out`, and nothing else of it: a file
 * of authorities may have a private key beside them.  Any bytes may come in.
 * Pure.  Returns the number of certificates, or the error of `out`.
 */
int certificates_filter(const char *text, size_t n, struct buf *out);

#endif
