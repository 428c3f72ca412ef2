/* SPDX-License-Identifier: Apache-2.0 */
#include "git/pack/inflate.h"

#include "base/buf.h"
#include "base/sha1.h"
#include "git/gitobject.h"

#include "tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Made by zlib 1.2.13. */
static const unsigned char stored[] = { 0x78, 0x01, 0x01, 0x0d, 0x00, 0xf2,
					0xff, 0x68, 0x65, 0x6c, 0x6c, 0x6f,
					0x2c, 0x20, 0x73, 0x74, 0x6f, 0x72,
					0x65, 0x64, 0x22, 0x4a, 0x04, 0xf2 };
static const unsigned char fixed[] = { 0x78, 0x01, 0xcb, 0x48, 0xcd, 0xc9,
				       0xc9, 0x57, 0xc8, 0x40, 0x90, 0x00,
				       0x3a, 0x2e, 0x06, 0x7d };
static const unsigned char empty[] = { 0x78, 0x9c, 0x03, 0x00,
				       0x00, 0x00, 0x00, 0x01 };
static const unsigned char dynamic[] = {
	0x78, 0xda, 0x7d, 0x55, 0x39, 0x12, 0x02, 0x31, 0x0c, 0xeb, 0x79, 0x05,
	0x25, 0xea, 0x38, 0x5e, 0x14, 0x06, 0x06, 0x0a, 0x98, 0xa1, 0xe0, 0xff,
	0x03, 0xac, 0xe3, 0xb5, 0x6c, 0x25, 0x14, 0x2c, 0xc1, 0x2b, 0xcb, 0xf2,
	0x11, 0x83, 0x5b, 0x7b, 0x3e, 0xdb, 0x66, 0x7f, 0x38, 0x9e, 0xe2, 0xe4,
	0x1f, 0xb4, 0xc7, 0xeb, 0xde, 0xb6, 0x97, 0xeb, 0xe3, 0xdd, 0x76, 0xe7,
	0xeb, 0xbb, 0x6d, 0x7f, 0x56, 0x33, 0x2e, 0x3f, 0xed, 0x68, 0x8e, 0x84,
	0xb2, 0x63, 0xf7, 0x06, 0x21, 0x7f, 0xee, 0x84, 0x30, 0x47, 0x32, 0x10,
	0x74, 0x39, 0x02, 0x64, 0xa7, 0x97, 0x04, 0x29, 0x0f, 0xa3, 0x24, 0x62,
	0x78, 0x32, 0x81, 0x19, 0xaa, 0x98, 0xa4, 0x42, 0xa4, 0x8c, 0xb0, 0x27,
	0x3c, 0x45, 0x8f, 0x31, 0x03, 0x32, 0x6d, 0xe0, 0x48, 0x43, 0xbc, 0x92,
	0xba, 0x46, 0xe5, 0x98, 0xa5, 0x07, 0xe6, 0x0c, 0x52, 0xd5, 0x19, 0xb5,
	0xd2, 0xa2, 0xd6, 0x97, 0xdd, 0x91, 0xbe, 0x52, 0x94, 0x08, 0xce, 0x92,
	0x18, 0x42, 0x65, 0x02, 0x28, 0x3b, 0xf6, 0xa2, 0x89, 0xaa, 0x43, 0x47,
	0x1e, 0x45, 0x72, 0xae, 0xec, 0x70, 0x12, 0xbb, 0x48, 0x88, 0x9e, 0x25,
	0xe0, 0xb8, 0x01, 0x32, 0x6e, 0x41, 0x27, 0xa3, 0x19, 0x5c, 0xeb, 0x49,
	0x42, 0x89, 0xd3, 0x84, 0xab, 0xf7, 0xc8, 0xba, 0x51, 0x5b, 0x5f, 0xf3,
	0x54, 0xe9, 0x22, 0x9b, 0xf9, 0x42, 0xd8, 0x5f, 0x1d, 0xf0, 0x06, 0xd5,
	0x56, 0x20, 0x6a, 0x90, 0x86, 0x7c, 0x2e, 0x2d, 0xbf, 0x09, 0x9b, 0xa5,
	0x97, 0x14, 0x56, 0x88, 0x92, 0x61, 0xc4, 0x36, 0xda, 0x4e, 0x92, 0x63,
	0x35, 0x76, 0x3e, 0x1a, 0x79, 0x9a, 0xc5, 0xaa, 0x3f, 0xda, 0xef, 0x1f,
	0x2a, 0xf2, 0xb7, 0x56, 0x95, 0x1c, 0xc8, 0x6a, 0xea, 0x2a, 0xea, 0x5d,
	0xc5, 0x64, 0xe5, 0x78, 0x10, 0xd9, 0xac, 0xf5, 0x6a, 0x72, 0x23, 0xea,
	0x86, 0x4c, 0xa5, 0xd5, 0x15, 0x40, 0x17, 0x0d, 0x59, 0xc2, 0x6c, 0xd5,
	0xe9, 0x9d, 0xa7, 0xbb, 0xe3, 0xf7, 0x4b, 0x9d, 0x91, 0x77, 0xc6, 0x64,
	0xab, 0x81, 0xb8, 0x6a, 0xc2, 0x5e, 0x2d, 0xb1, 0xd7, 0xe1, 0xd4, 0x95,
	0xb3, 0x4e, 0x33, 0x35, 0x77, 0x89, 0xc4, 0xb1, 0xe5, 0x4f, 0x69, 0xbc,
	0x08, 0x52, 0xcb, 0xff, 0x0d, 0xa9, 0x0a, 0x50, 0x0c, 0x45, 0x33, 0xe0,
	0x07, 0xd0, 0x33, 0x67, 0x1b
};
static const unsigned char run[] = { 0x78, 0xda, 0x4b, 0x4c, 0x1c, 0x05,
				     0xa3, 0x60, 0x14, 0x0c, 0x77, 0x00,
				     0x00, 0xf9, 0xd8, 0x7a, 0xf8 };
#define DYNAMIC_SIZE 1892
#define DYNAMIC_SHA1 "0bf8296a34523aca55bbe550cebb774055ebf1ba"

struct input {
	const unsigned char *data;
	size_t size;
	size_t at_once; /* so many bytes, as a slow file gives them */
};

static ssize_t read_input(void *ctx, void *buf, size_t size, uint64_t offset)
{
	const struct input *in = ctx;
	size_t n;

	if (offset >= in->size)
		return 0;
	n = in->size - (size_t)offset;
	if (n > size)
		n = size;
	if (n > in->at_once)
		n = in->at_once;
	memcpy(buf, in->data + offset, n);
	return (ssize_t)n;
}

static int inflate_all(const void *data, size_t size, size_t at_once, char *out,
		       size_t room, size_t *ret_n)
{
	struct input in = { data, size, at_once };

	return inflate_bytes(read_input, &in, 0, (unsigned char *)out, room,
			     ret_n);
}

#define SAME(data, text)                                                       \
	do {                                                                   \
		CHECK_INT(inflate_all(data, sizeof(data), 3, out, sizeof(out), \
				      &n),                                     \
			  0);                                                  \
		CHECK_INT(n, strlen(text));                                    \
		CHECK(memcmp(out, text, strlen(text)) == 0);                   \
	} while (0)

static void data_of_zlib_is_read(void)
{
	char out[4096], hex[SHA1_HEX_SIZE];
	struct sha1 h;
	size_t n;

	SAME(stored, "hello, stored");
	SAME(fixed, "hello hello hello");
	SAME(empty, "");
	CHECK_INT(inflate_all(run, sizeof(run), 1, out, sizeof(out), &n), 0);
	CHECK_INT(n, 1000);
	CHECK(out[0] == 'a' && memcmp(out, out + 1, 999) == 0);
	CHECK_INT(inflate_all(dynamic, sizeof(dynamic), 4096, out, sizeof(out),
			      &n),
		  0);
	CHECK_INT(n, DYNAMIC_SIZE);
	sha1_init(&h);
	sha1_add(&h, out, n);
	sha1_end_hex(&h, hex);
	CHECK(strcmp(hex, DYNAMIC_SHA1) == 0);
}

static void output_ends_with_its_room(void)
{
	char out[1001];
	size_t n;

	out[100] = 'x';
	CHECK_INT(inflate_all(run, sizeof(run), 4096, out, 100, &n), -EFBIG);
	CHECK_INT(n, 100);
	CHECK_INT(out[100], 'x');
	CHECK_INT(out[99], 'a');
	CHECK_INT(inflate_all(run, sizeof(run), 4096, out, 1000, &n), 0);
	CHECK_INT(inflate_all(stored, sizeof(stored), 4096, out, 0, &n),
		  -EFBIG);
}

/* Without the sum at its end, which nothing compares. */
static void data_that_is_cut_is_refused(void)
{
	char out[4096];
	size_t n;

	for (size_t size = 0; size + 4 < sizeof(dynamic); size++)
		CHECK_INT(
			inflate_all(dynamic, size, 4096, out, sizeof(out), &n),
			-EBADMSG);
}

/* Each byte in turn has each value: nothing is read or written elsewhere. */
static void damaged_data_does_no_harm(void)
{
	unsigned char copy[sizeof(dynamic)];
	size_t n, n_refused = 0;
	char out[2000];

	for (size_t i = 0; i < sizeof(copy); i++) {
		memcpy(copy, dynamic, sizeof(copy));
		for (int value = 0; value < 256; value++) {
			int r;

			copy[i] = (unsigned char)value;
			r = inflate_all(copy, sizeof(copy), 4096, out,
					sizeof(out), &n);
			CHECK(r == 0 || r == -EBADMSG || r == -EFBIG);
			CHECK(n <= sizeof(out));
			n_refused += r == -EBADMSG;
		}
	}
	CHECK(n_refused > sizeof(copy));
}

static void what_is_no_zlib_data_is_refused(void)
{
	static const struct {
		const char *data;
		size_t size;
	} bad[] = {
		{ "", 0 },
		{ "\x78", 1 },
		{ "\x79\x9c\x03\x00", 4 },		/* another method */
		{ "\x78\x9d\x03\x00", 4 },		/* a wrong check */
		{ "\x78\xbb\x03\x00", 4 },		/* a dictionary */
		{ "\x78\x01\x07", 3 },			/* the fourth kind */
		{ "\x78\x01\x01\x01\x00\x01\x00x", 8 }, /* length and not */
		/* A distance before the start of the output. */
		{ "\x78\x01\x03\x02\x00\x00\x00", 7 },
	};
	char out[64];
	size_t n;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_INT(inflate_all(bad[i].data, bad[i].size, 4096, out,
				      sizeof(out), &n),
			  -EBADMSG);
}

/* More than one block of stored data. */
static void an_object_that_we_write_can_be_read(void)
{
	enum {
		SIZE = 70000
	};
	struct buf file = BUF_INIT((size_t)1 << 20);
	struct git_object object = { .type = GIT_COMMIT, .size = SIZE };
	char *out = malloc(SIZE + 32);
	struct git_id id;
	size_t n = 0;

	object.data = malloc(SIZE);
	if (!object.data || !out)
		abort();
	for (int i = 0; i < SIZE; i++)
		object.data[i] = (char)(i * 7 % 251);
	CHECK_INT(git_object_write(&object, &file), 0);
	CHECK_INT(inflate_all(file.data, file.len, 4096, out, SIZE + 32, &n),
		  0);
	CHECK_INT(n, SIZE + sizeof("commit 70000"));
	CHECK(memcmp(out, "commit 70000", sizeof("commit 70000")) == 0);
	CHECK(memcmp(out + sizeof("commit 70000"), object.data, SIZE) == 0);
	object.type = GIT_BLOB;
	object.size = 0;
	git_object_name(&object, 40, &id);
	CHECK(strcmp(id.hex, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391") == 0);
	git_object_name(&object, 64, &id);
	CHECK(strcmp(id.hex,
		     "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749"
		     "120a303721813") == 0);
	buf_done(&file);
	free(object.data);
	free(out);
}

TESTS(T(data_of_zlib_is_read), T(output_ends_with_its_room),
      T(data_that_is_cut_is_refused), T(damaged_data_does_no_harm),
      T(what_is_no_zlib_data_is_refused),
      T(an_object_that_we_write_can_be_read))
