/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_TEST_BPF_H
#define HB_TEST_BPF_H

#include "sys/kernel.h"

#include <stdint.h>
#include <string.h>

/*
 * Classic BPF as seccomp has it, for tests that ask a filter about machines and
 * calls this one does not have.  As strict as the kernel's checker: whatever it
 * would not load is BPF_BROKEN, which is no verdict of seccomp.
 */
#define BPF_BROKEN 0xdeadbeefU

static inline uint32_t bpf_alu(uint16_t code, uint32_t a, uint32_t k, int *bad)
{
	switch (code) {
	case 0x04:
		return a + k;
	case 0x14:
		return a - k;
	case 0x44:
		return a | k;
	case 0x54:
		return a & k;
	case 0x64:
		return k < 32 ? a << k : 0;
	case 0x74:
		return k < 32 ? a >> k : 0;
	case 0xa4:
		return a ^ k;
	default:
		*bad = 1;
		return 0;
	}
}

static inline int bpf_test(uint16_t code, uint32_t a, uint32_t k, int *bad)
{
	switch (code) {
	case 0x15:
		return a == k;
	case 0x25:
		return a > k;
	case 0x35:
		return a >= k;
	case 0x45:
		return (a & k) != 0;
	default:
		*bad = 1;
		return 0;
	}
}

/* The verdict of PROG on DATA; BPF_BROKEN if the kernel would refuse PROG. */
static inline uint32_t bpf_run(const struct k_sock_fprog *prog,
			       const struct k_seccomp_data *data)
{
	uint32_t a = 0;
	size_t pc = 0;
	int bad = 0;

	/* Jumps only go forward, so this ends. */
	while (pc < prog->len && !bad) {
		const struct k_sock_filter *i = &prog->filter[pc++];

		if (i->code == 0x06)
			return i->k;
		if (i->code == 0x20) {
			if (i->k % 4 != 0 || i->k > sizeof(*data) - 4)
				return BPF_BROKEN;
			memcpy(&a, (const char *)data + i->k, 4);
		} else if (i->code == 0x05) {
			if (i->k >= prog->len - pc)
				return BPF_BROKEN;
			pc += i->k;
		} else if ((i->code & 7) == 5) {
			pc += bpf_test(i->code, a, i->k, &bad) ? i->jt : i->jf;
		} else {
			a = bpf_alu(i->code, a, i->k, &bad);
		}
	}
	return BPF_BROKEN;
}

#endif
