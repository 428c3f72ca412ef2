/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_RESULT_H
#define HB_SYS_RESULT_H

#include <errno.h>

/* The result of a call that returns -1 and errno, the way we return it. */
#define RESULT(call)                          \
	__extension__({                       \
		__typeof__(call) r_ = (call); \
		r_ < 0 ? -errno : r_;         \
	})

#endif
