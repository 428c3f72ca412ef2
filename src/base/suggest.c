/* SPDX-License-Identifier: Apache-2.0 */
#include "base/suggest.h"

#include <limits.h>
#include <string.h>

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

unsigned int edit_distance(const char *a, const char *b)
{
	/* Three rows of the table: a swap looks back two. */
	unsigned int rows[3][SUGGEST_MAX + 1];
	size_t n_a = strlen(a), n_b = strlen(b);

	if (n_a > SUGGEST_MAX || n_b > SUGGEST_MAX)
		return UINT_MAX;
	for (size_t k = 0; k <= n_b; k++)
		rows[0][k] = (unsigned int)k;
	for (size_t i = 1; i <= n_a; i++) {
		unsigned int *now = rows[i % 3], *last = rows[(i + 2) % 3];
		const unsigned int *before = rows[(i + 1) % 3];

		now[0] = (unsigned int)i;
		for (size_t k = 1; k <= n_b; k++) {
			unsigned int cost = a[i - 1] == b[k - 1] ? 0 : 1;

			now[k] = least(last[k - 1] + cost,
				       least(last[k], now[k - 1]) + 1);
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] &&
			    a[i - 2] == b[k - 1])
				now[k] = least(now[k], before[k - 2] + 1);
		}
	}
	return rows[n_a % 3][n_b];
}

void suggestion_init(struct suggestion *s, const char *word)
{
	*s = (struct suggestion){ .word = word, .cost = UINT_MAX };
}

void suggestion_offer(struct suggestion *s, const char *candidate)
{
	size_t n = strlen(s->word), other = strlen(candidate);
	/* Of two letters any two words are near; of eight, two may be off. */
	size_t near = (n < other ? n : other) / 3;
	unsigned int cost = edit_distance(s->word, candidate);

	if (near > 3)
		near = 3;
	/* Who stops early means the beginning. */
	if (n >= 3 && cost != UINT_MAX && strncmp(s->word, candidate, n) == 0)
		cost = 1;
	if (cost > near || cost >= s->cost)
		return;
	s->best = candidate;
	s->cost = cost;
}
