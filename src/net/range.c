/* SPDX-License-Identifier: Apache-2.0 */
#include "net/range.h"

#include "base/num.h"

#include <arpa/inet.h>
#include <string.h>

#define V4_BITS	   96 /* before those of an IPv4 address */
#define ALL_BITS   128
#define RANGE_TEXT 64 /* longer than every address with its bits */

/* The first bytes of an address, IPv4 and IPv6. */
#define V4(...)                                                       \
	{                                                             \
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, __VA_ARGS__ \
	}
#define V6(...)             \
	{                   \
		__VA_ARGS__ \
	}

/* Who can open a special network. */
enum opener {
	BY_NOTHING,
	BY_RANGE,   /* a range inside of it, written by the user */
	BY_PRIVATE, /* also REACH_PRIVATE */
};

/* clang-format off */
static const struct special {
	unsigned char first[16];
	unsigned bits;
	enum opener opener;
	const char *words;
} specials[] = {
	{ V4(0),            V4_BITS + 8,  BY_NOTHING, "an address of this host" },
	{ V4(10),           V4_BITS + 8,  BY_PRIVATE, "a private address" },
	{ V4(100, 64),      V4_BITS + 10, BY_PRIVATE, "a private address" },
	/* What clouds tell their machines: no private network of the user. */
	{ V4(100, 100, 100, 200), 128,    BY_RANGE,   "a metadata address" },
	{ V4(168, 63, 129, 16), 128,      BY_RANGE,   "a metadata address" },
	{ V6(0xfd, 0, 0x0e, 0xc2, [14] = 2, 0x54), 128, BY_RANGE, "a metadata address" },
	{ V6(0xfd, 0x20, 0, 0xce, [14] = 2, 0x54), 128, BY_RANGE, "a metadata address" },
	{ V4(127),          V4_BITS + 8,  BY_NOTHING, "a loopback address" },
	{ V4(169, 254),     V4_BITS + 16, BY_RANGE,   "a link-local address" },
	{ V4(172, 16),      V4_BITS + 12, BY_PRIVATE, "a private address" },
	{ V4(192, 0, 0),    V4_BITS + 24, BY_RANGE,   "a reserved address" },
	{ V4(192, 168),     V4_BITS + 16, BY_PRIVATE, "a private address" },
	{ V4(198, 18),      V4_BITS + 15, BY_RANGE,   "a reserved address" },
	{ V4(224),          V4_BITS + 3,  BY_RANGE,   "a multicast or reserved address" },
	/* ::1, :: and IPv4-compatible ones */
	{ V6(0),            96,           BY_NOTHING, "a loopback address" },
	{ V6(0, 0x64, 0xff, 0x9b), 96,    BY_RANGE,   "a translated address" },
	{ V6(0, 0x64, 0xff, 0x9b, 0, 1), 48, BY_RANGE, "a translated address" },
	{ V6(0x20, 0x02),   16,           BY_RANGE,   "a tunnelled address" },
	{ V6(0x20, 0x01, 0, 0), 32,       BY_RANGE,   "a tunnelled address" },
	{ V6(0xfc),         7,            BY_PRIVATE, "a private address" },
	{ V6(0xfe, 0x80),   10,           BY_RANGE,   "a link-local address" },
	{ V6(0xfe, 0xc0),   10,           BY_RANGE,   "a reserved address" },
	{ V6(0xff),         8,            BY_RANGE,   "a multicast address" },
};
/* clang-format on */

struct in6_addr net_address_of_v4(struct in_addr v4)
{
	struct in6_addr a = { .s6_addr = V4(0) };

	memcpy(a.s6_addr + V4_BITS / 8, &v4, sizeof(v4));
	return a;
}

static void clear_rest(struct net_range *range)
{
	for (unsigned bit = range->bits; bit < ALL_BITS; bit++)
		range->address.s6_addr[bit / 8] &=
			(unsigned char)~(0x80 >> bit % 8);
}

bool net_range_parse(const char *text, size_t n, struct net_range *ret)
{
	char copy[RANGE_TEXT], *slash;
	unsigned before = 0;
	struct in_addr v4;
	int64_t bits;

	if (n >= sizeof(copy))
		return false;
	memcpy(copy, text, n);
	copy[n] = '\0';
	slash = strchr(copy, '/');
	if (slash)
		*slash++ = '\0';
	if (inet_pton(AF_INET, copy, &v4) == 1) {
		ret->address = net_address_of_v4(v4);
		before = V4_BITS;
	} else if (inet_pton(AF_INET6, copy, &ret->address) != 1) {
		return false;
	}
	ret->bits = ALL_BITS;
	if (slash) {
		if (num_int(slash, 0, ALL_BITS - before, &bits) < 0)
			return false;
		ret->bits = (unsigned)bits + before;
	}
	clear_rest(ret);
	return true;
}

static bool has_bits(const unsigned char *first, unsigned bits,
		     const struct in6_addr *a)
{
	unsigned bytes = bits / 8, left = bits % 8;

	if (memcmp(first, a->s6_addr, bytes) != 0)
		return false;
	return left == 0 ||
	       (first[bytes] ^ a->s6_addr[bytes]) >> (8 - left) == 0;
}

bool net_range_has(const struct net_range *range, const struct in6_addr *a)
{
	return has_bits(range->address.s6_addr, range->bits, a);
}

static bool is_opened(const struct special *s, const struct in6_addr *a,
		      enum net_reach reach, const struct net_range *said)
{
	if (s->opener == BY_NOTHING)
		return false;
	if (s->opener == BY_PRIVATE && reach == REACH_PRIVATE)
		return true;
	return said && said->bits >= s->bits && net_range_has(said, a);
}

const char *net_address_special(const struct in6_addr *a, enum net_reach reach,
				const struct net_range *said)
{
	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++)
		if (has_bits(specials[i].first, specials[i].bits, a) &&
		    !is_opened(&specials[i], a, reach, said))
			return specials[i].words;
	return NULL;
}
