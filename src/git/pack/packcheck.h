/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_GIT_PACK_PACKCHECK_H
#define HB_GIT_PACK_PACKCHECK_H

#include <stddef.h>
#include <stdint.h>

struct gitpack;

/*
 * Whether a pack and its index are as git makes them.  Their sums are right,
 * the names are in order, and each object is its name.  git looks at the
 * sums only when asked, and takes an object of a pack for its name unseen.
 *
 * 0: they are.  -EBADMSG: not.  -EFBIG: `*work`, the bytes that may be read and
 * inflated, is used up, or an object made of others is too large.  -ENOMEM, or
 * an error of reading.
 */
int packcheck_run(const struct gitpack *pack, size_t digits, uint64_t *work);

#endif
