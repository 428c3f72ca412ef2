/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzzes: git
 *
 * The input is a pack and its index, the index first with its length in front.
 * Each object that the index has is read: within its size and work, with a NUL
 * behind it, for any offsets and deltas.  Its files are in the build directory,
 * where the fuzzer runs.
 */
#include "git/pack/gitpack.h"

#include "git/pack/delta_bases.h"
#include "git/pack/packcheck.h"

#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_OBJECT ((size_t)1 << 16)
#define MAX_WORK   ((uint64_t)1 << 20)
#define IDS_AT	   (8 + 256 * 4)

static void write_file(int dir, const char *name, const uint8_t *data,
		       size_t size)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			0600);

	MUST(fd >= 0);
	MUST(write(fd, data, size) == (ssize_t)size);
	(void)close(fd);
}

static void read_one(const struct gitpack *pack, const uint8_t *id)
{
	struct git_object object = { 0 };
	uint64_t offset, work = MAX_WORK;
	struct git_id name;
	int r;

	for (size_t i = 0; i < 20; i++)
		(void)snprintf(name.hex + 2 * i, 3, "%02x", id[i]);
	r = gitpack_find(pack, &name, &offset);
	if (r != 1)
		return;
	r = gitpack_read(pack, offset, 40, MAX_OBJECT, &work, &object);
	MUST(work <= MAX_WORK);
	if (r < 0)
		return;
	MUST(object.size <= MAX_OBJECT && object.data[object.size] == '\0');
	MUST(git_type_word(object.type) != NULL);
	free(object.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int dir = -1;
	struct gitpack pack = { -1, -1, 0, 0, 0 };
	size_t n;

	if (dir < 0) {
		dir = open("gitpack.files", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0 && mkdir("gitpack.files", 0700) == 0)
			dir = open("gitpack.files",
				   O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		MUST(dir >= 0);
	}
	if (size < 2)
		return 0;
	n = (size_t)data[0] << 8 | data[1];
	n = n > size - 2 ? size - 2 : n;
	write_file(dir, "pack-x.idx", data + 2, n);
	write_file(dir, "pack-x.pack", data + 2 + n, size - 2 - n);
	if (gitpack_open(dir, "pack-x.idx", &pack) >= 0) {
		uint64_t work = MAX_WORK;

		pack.bases = delta_bases_new();
		MUST(pack.bases != NULL);
		for (uint32_t i = 0; i < pack.n && i < 64; i++)
			if (n >= IDS_AT + 20 * ((size_t)i + 1))
				read_one(&pack, data + 2 + IDS_AT + 20 * i);
		delta_bases_free(pack.bases);
		pack.bases = NULL;
		(void)packcheck_run(&pack, 40, &work);
		MUST(work <= MAX_WORK);
	}
	gitpack_close(&pack);
	return 0;
}
