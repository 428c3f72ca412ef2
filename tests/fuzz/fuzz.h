/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TESTS_FUZZ_H
#define HB_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* What the fuzzer calls. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What always holds: the fuzzer keeps the input for which it does not. */
#define MUST(cond)               \
	do {                     \
		if (!(cond))     \
			abort(); \
	} while (0)

#endif
