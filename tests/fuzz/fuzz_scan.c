/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: gate
 *
 * The input is looked at for secrets twice, whole and in parts whose sizes it
 * chooses: what is found must be the same.  Then it is read as rules, and if it
 * is some, they look at the input themselves.
 */
#include "base/error.h"
#include "fuzz.h"
#include "gate/scan/scan.h"
#include "sys/result.h"
#include "tree/entry.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FOUND_MAX 64

struct found {
	struct scan_finding findings[FOUND_MAX];
	size_t count;
};

static int note(void *ctx, const struct scan_finding *f, struct hb_error *err)
{
	struct found *found = ctx;

	(void)err;
	MUST(f->line >= 1);
	if (found->count < FOUND_MAX)
		found->findings[found->count] = *f;
	found->count++;
	return 0;
}

static void look(struct scan *scan, const uint8_t *data, size_t size,
		 bool in_parts, struct found *found)
{
	size_t i = 0;

	memset(found, 0, sizeof(*found));
	scan_begin(scan, note, found);
	while (i < size) {
		size_t part = in_parts ? data[i] % 61U + 1 : size;

		if (part > size - i)
			part = size - i;
		MUST(scan_add(scan, data + i, part, NULL) == 0);
		i += part;
	}
	MUST(scan_end(scan, NULL) == 0);
}

static void compare(struct scan *scan, const uint8_t *data, size_t size)
{
	struct found whole, parts;

	look(scan, data, size, false, &whole);
	look(scan, data, size, true, &parts);
	MUST(whole.count == parts.count);
	for (size_t i = 0; i < whole.count && i < FOUND_MAX; i++) {
		const struct scan_finding *a = &whole.findings[i];
		const struct scan_finding *b = &parts.findings[i];

		MUST(a->kind == b->kind && a->line == b->line);
		MUST(memcmp(a->digest, b->digest, sizeof(a->digest)) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct scan *built_in;
	struct hb_error err = { 0 };
	struct scan *own = NULL;
	int r;

	if (!built_in)
		MUST(scan_new(&built_in, NULL) == 0);
	compare(built_in, data, size);
	r = scan_new_rules("input", data, size, &own, &err);
	if (r < 0) {
		MUST(r == -HB_E_CONFIG || r == -ENOMEM || r == -E2BIG);
		MUST(err.text[0]);
		return 0;
	}
	compare(own, data, size);
	scan_free(own);
	return 0;
}
