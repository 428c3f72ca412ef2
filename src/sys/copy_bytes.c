/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>

/*
 * memcpy() and memmove() of the run path, on x86-64 and with musl.
 *
 * A start copies some 4 500 pieces of text of ten bytes each.  musl's memcpy
 * copies every length by "rep movsq", whose start takes longer than such a
 * copy.  It was a quarter of the time that a run spent outside of the kernel.
 * Short
 * pieces are copied here as two that overlap, without a loop, in which a
 * compiler would see a call of memcpy().
 *
 * Linked into those programs alone, where they take the place of libc's, of
 * which the second needs the first.
 */

#define SHORT (2 * sizeof(struct sixteen))
#define LONG  128

struct sixteen {
	uint64_t halves[2];
};

/* libc declares these with attributes of its own; ours are plain. */
void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);

/* The first and the last piece of such a size; what is between is in both. */
#define COPY_ENDS(type)                                                      \
	do {                                                                 \
		type first, last;                                            \
                                                                             \
		__builtin_memcpy(&first, s, sizeof(type));                   \
		__builtin_memcpy(&last, s + n - sizeof(type), sizeof(type)); \
		__builtin_memcpy(d, &first, sizeof(type));                   \
		__builtin_memcpy(d + n - sizeof(type), &last, sizeof(type)); \
	} while (0)

#ifdef __x86_64__
#define COPY_EACH(code) \
	__asm__ volatile(code : "+D"(d), "+S"(s), "+c"(n) : : "memory")
#define EACH_UP	  "rep movsb"
#define EACH_DOWN "std; rep movsb; cld"
#else
/* Not linked there; the test still compiles. */
#define COPY_EACH(back) __builtin_memmove(d - (back), s - (back), n)
#define EACH_UP		0
#define EACH_DOWN	(n - 1)
#endif

/* All is read before anything is written, so both may overlap. */
static void copy_short(unsigned char *d, const unsigned char *s, size_t n)
{
	if (n >= sizeof(struct sixteen)) {
		COPY_ENDS(struct sixteen);
	} else if (n >= sizeof(uint64_t)) {
		COPY_ENDS(uint64_t);
	} else if (n >= sizeof(uint32_t)) {
		COPY_ENDS(uint32_t);
	} else if (n >= sizeof(uint16_t)) {
		COPY_ENDS(uint16_t);
	} else if (n > 0) {
		*d = *s;
	}
}

/* From the first byte to the last: `d` may overlap `s`, but from below. */
static void copy_up(unsigned char *d, const unsigned char *s, size_t n)
{
	if (n > LONG) {
		COPY_EACH(EACH_UP);
		return;
	}
	/* Three quarters here, each of at most 32 bytes. */
	if (n > SHORT) {
		size_t half = n / 2, quarter = half / 2;

		copy_short(d, s, quarter);
		copy_short(d + quarter, s + quarter, half - quarter);
		s += half;
		d += half;
		n -= half;
		quarter = n / 2;
		copy_short(d, s, quarter);
		s += quarter;
		d += quarter;
		n -= quarter;
	}
	copy_short(d, s, n);
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	copy_up(to, from, n);
	return to;
}

void *memmove(void *to, const void *from, size_t n)
{
	unsigned char *d = to;
	const unsigned char *s = from;

	if (n <= SHORT) {
		copy_short(d, s, n);
	} else if ((uintptr_t)d - (uintptr_t)s >= n) {
		copy_up(d, s, n);
	} else {
		d += n - 1;
		s += n - 1;
		COPY_EACH(EACH_DOWN);
	}
	return to;
}
