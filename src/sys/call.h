/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_CALL_H
#define HB_SYS_CALL_H

#include "sys/fault.h"
#include "sys/result.h"

#include <errno.h>
#include <stddef.h>

/*
 * A call that may be interrupted, until it is not; negated errno.  POSIX lets
 * it have done nothing then, and what comes over a network really does that.
 */
#define UNINTERRUPTED(op, call)                                          \
	__extension__({                                                  \
		long u_;                                                 \
		do                                                       \
			u_ = fault_io(op, NULL) ? -EINTR : RESULT(call); \
		while (u_ == -EINTR);                                    \
		u_;                                                      \
	})

/* The same for what changes durable state: between its two fault points. */
#define DURABLE(op, call)                                           \
	__extension__({                                             \
		int f_ = fault_here(op);                            \
		f_ < 0 ? f_ : fault_after(UNINTERRUPTED(op, call)); \
	})

#endif
