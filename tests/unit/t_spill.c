/* SPDX-License-Identifier: Apache-2.0 */
#include "changes/spill.h"

#include "trees.h"

static const struct entry some_file = {
	.type = ENTRY_FILE,
	.mode = 04755,
	.uid = 4000000000U,
	.gid = 7,
	.dev = (uint64_t)1 << 60,
	.ino = UINT64_MAX,
	.size = (uint64_t)1 << 62,
	.nlink = 3,
	.mtime = { -1, 999999999 },
	.ctime = { (int64_t)1 << 33, 5 },
	.btime = { 1, 2 },
	.has_origin = true,
	.has_xattrs = true,
};

static struct spilled record_of(const char *path)
{
	return (struct spilled){
		.change = { .kind = CHANGE_MODIFIED,
			    .what = CHANGED_CONTENT | CHANGED_MTIME,
			    .flags = CHANGE_GIT | CHANGE_CONFLICT,
			    .path = path,
			    .layer = 2,
			    .old = some_file,
			    .link_group = 9 },
		.conflict = CONFLICT_METADATA,
	};
}

static void what_goes_in_comes_out(void)
{
	static const char *const paths[] = { "a", "a/b", "a/bc", "\xff\n",
					     "a" };
	struct spilled in, out;
	struct spill spill;
	struct tree t;

	tree_init(&t, 1);
	CHECK_INT(spill_init(&spill, t.top, NULL), 0);
	for (size_t i = 0; i < 5; i++) {
		in = record_of(paths[i]);
		CHECK_INT(spill_add(&spill, &in, NULL), 0);
	}
	for (int again = 0; again < 2; again++) {
		CHECK_INT(spill_rewind(&spill, NULL), 0);
		for (size_t i = 0; i < 5; i++) {
			const struct change *c = &out.change;

			CHECK_INT(spill_next(&spill, &out, NULL), 1);
			CHECK(strcmp(c->path, paths[i]) == 0);
			CHECK_INT(c->kind, CHANGE_MODIFIED);
			CHECK_INT(c->what, CHANGED_CONTENT | CHANGED_MTIME);
			CHECK_INT(c->flags, CHANGE_GIT | CHANGE_CONFLICT);
			CHECK_INT(out.conflict, CONFLICT_METADATA);
			CHECK_INT(c->layer, 2);
			CHECK_INT(c->link_group, 9);
			CHECK_INT(c->new.type, ENTRY_NONE);
			CHECK(memcmp(&c->old.mtime, &some_file.mtime,
				     sizeof(c->old.mtime)) == 0);
			CHECK(c->old.ino == some_file.ino);
			CHECK(c->old.dev == some_file.dev);
			CHECK(c->old.size == some_file.size);
			CHECK(c->old.uid == some_file.uid);
			CHECK_INT(c->old.mode, some_file.mode);
			CHECK(c->old.has_origin && c->old.has_xattrs);
			CHECK(!c->old.is_opaque && !c->old.is_whiteout);
			CHECK_INT(c->old.ctime.tv_sec, (int64_t)1 << 33);
		}
		CHECK_INT(spill_next(&spill, &out, NULL), 0);
	}
	spill_done(&spill);
	tree_done(&t);
}

static void records_longer_than_a_block(void)
{
	char *path = malloc(300001);
	struct spilled in, out;
	struct spill spill;
	struct tree t;

	CHECK(path != NULL);
	memset(path, 'p', 300000);
	path[300000] = '\0';
	tree_init(&t, 1);
	CHECK_INT(spill_init(&spill, t.top, NULL), 0);
	for (int i = 0; i < 3; i++) {
		path[0] = (char)('a' + i);
		in = record_of(path);
		CHECK_INT(spill_add(&spill, &in, NULL), 0);
		in = record_of("short");
		CHECK_INT(spill_add(&spill, &in, NULL), 0);
	}
	CHECK_INT(spill_rewind(&spill, NULL), 0);
	for (int i = 0; i < 3; i++) {
		CHECK_INT(spill_next(&spill, &out, NULL), 1);
		CHECK_INT(strlen(out.change.path), 300000);
		CHECK_INT(out.change.path[0], 'a' + i);
		CHECK_INT(spill_next(&spill, &out, NULL), 1);
		CHECK(strcmp(out.change.path, "short") == 0);
	}
	CHECK_INT(spill_next(&spill, &out, NULL), 0);
	spill_done(&spill);
	tree_done(&t);
	free(path);
}

static void a_cut_record_is_refused(void)
{
	auto_buf struct buf bytes = BUF_INIT(4096);
	auto_buf struct buf path = BUF_INIT(4096);
	struct spilled in = record_of("some/path"), out;

	CHECK_INT(spill_encode(&in, 0, &bytes), 0);
	for (size_t n = 0; n < bytes.len; n++)
		CHECK_INT(spill_decode((const unsigned char *)bytes.data, n,
				       &path, &out),
			  -EBADMSG);
	CHECK_INT(spill_decode((const unsigned char *)bytes.data, bytes.len,
			       &path, &out),
		  bytes.len);
	/* It leans on a path that is not there. */
	buf_cut(&bytes, 0);
	in = record_of("some/path");
	CHECK_INT(spill_encode(&in, 5, &bytes), 0);
	buf_cut(&path, 0);
	CHECK_INT(spill_decode((const unsigned char *)bytes.data, bytes.len,
			       &path, &out),
		  -EBADMSG);
}

static void a_damaged_file_is_said_to_be(void)
{
	struct hb_error err = { 0 };
	struct spilled in = record_of("path"), out;
	struct spill spill;
	struct tree t;

	tree_init(&t, 1);
	CHECK_INT(spill_init(&spill, t.top, NULL), 0);
	CHECK_INT(spill_add(&spill, &in, NULL), 0);
	CHECK_INT(spill_rewind(&spill, NULL), 0);
	CHECK_INT(pwrite(spill.file, "\xff\xff\xff\xff", 4, SPILL_HEAD), 4);
	CHECK_INT(spill_next(&spill, &out, &err), -HB_E_CORRUPT);
	CHECK_INT(err.code, HB_E_CORRUPT);
	CHECK_INT(spill_rewind(&spill, NULL), 0);
	CHECK_INT(ftruncate(spill.file, SPILL_HEAD + 10), 0);
	CHECK_INT(spill_next(&spill, &out, &err), -HB_E_CORRUPT);
	spill_done(&spill);
	tree_done(&t);
}

TESTS(T(what_goes_in_comes_out), T(records_longer_than_a_block),
      T(a_cut_record_is_refused), T(a_damaged_file_is_said_to_be))
