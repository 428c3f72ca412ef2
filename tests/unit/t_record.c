/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record.h"

#include "base/auto.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/sha256.h"

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void fill(struct session_record *record)
{
	struct record_resource *resource = NULL;

	*record = (struct session_record){
		.id = "0123456789abcdef",
		.name = "a name",
		.state = SESSION_ACTIVE,
		.dir_ino = UINT64_MAX,
		.created = -5,
		.used = { 1794737253, 7 },
		.boot = "723df187-1501-44eb-b3a9-793377c26ba6",
		.pid = 77,
		.is_durable = true,
		.has_lost = true,
		.undo_bytes = 1ULL << 40,
		.family = "fedcba9876543210",
		.is_freezing = true,
		.checks = "0123456789abcdef",
	};
	const struct record_layer layers[] = {
		{ .id = "00000000000000aa",
		  .mark = "a \"mark\"",
		  .frozen = -1,
		  .until = UINT64_MAX },
		{ .id = "00000000000000bb", .after = 3, .from = 4 },
	};

	for (size_t i = 0; i < 2; i++)
		CHECK_INT(record_add_layer(record, &layers[i], NULL), 0);
	CHECK_INT(record_add_read_only(record, "/a\nb", NULL), 0);
	CHECK_INT(record_add_resource(record, "/with \"quotes\" and = signs",
				      "/in\033side", &resource, NULL),
		  0);
	resource->ino = 9;
	resource->btime = (struct timespec){ 5, 1 };
	resource->t0 = (struct timespec){ -1, 999999999 };
	resource->t0_before = (struct timespec){ 7, 0 };
	resource->same_mount = true;
	CHECK_INT(record_add_resource(record, "/second", "/second", &resource,
				      NULL),
		  0);
	resource->is_in_base = true;
}

static bool is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static void check_same(const struct session_record *a,
		       const struct session_record *b)
{
	CHECK(strcmp(a->id, b->id) == 0 && strcmp(a->name, b->name) == 0);
	CHECK(a->state == b->state && a->dir_ino == b->dir_ino);
	CHECK(a->created == b->created && a->used.tv_sec == b->used.tv_sec &&
	      a->used.tv_nsec == b->used.tv_nsec);
	CHECK(strcmp(a->boot, b->boot) == 0 && a->pid == b->pid);
	CHECK(a->is_durable == b->is_durable &&
	      a->is_unsynced == b->is_unsynced && a->has_lost == b->has_lost);
	CHECK(a->undo_bytes == b->undo_bytes);
	CHECK(strcmp(a->family, b->family) == 0 &&
	      a->is_freezing == b->is_freezing);
	CHECK(strcmp(a->checks, b->checks) == 0);
	CHECK_INT(a->n_layers, b->n_layers);
	for (size_t i = 0; i < a->n_layers; i++) {
		const struct record_layer *x = &a->layers[i];
		const struct record_layer *y = &b->layers[i];

		CHECK(strcmp(x->id, y->id) == 0 &&
		      strcmp(x->mark, y->mark) == 0);
		CHECK(x->frozen == y->frozen && x->after == y->after);
		CHECK(x->from == y->from && x->until == y->until);
	}
	CHECK_INT(a->n_read_only, b->n_read_only);
	for (size_t i = 0; i < a->n_read_only; i++)
		CHECK(strcmp(a->read_only[i], b->read_only[i]) == 0);
	CHECK_INT(a->n_resources, b->n_resources);
	for (size_t i = 0; i < a->n_resources; i++) {
		const struct record_resource *x = &a->resources[i];
		const struct record_resource *y = &b->resources[i];

		CHECK(strcmp(x->source, y->source) == 0);
		CHECK(strcmp(x->inside, y->inside) == 0);
		CHECK(x->ino == y->ino && is_same_time(x->btime, y->btime));
		CHECK(is_same_time(x->t0, y->t0));
		CHECK(is_same_time(x->t0_before, y->t0_before));
		CHECK(x->same_mount == y->same_mount);
		CHECK(x->is_in_base == y->is_in_base);
	}
}

static void what_was_written_is_read(void)
{
	auto_record struct session_record a = { 0 }, b = { 0 };
	auto_buf struct buf text = BUF_INIT(RECORD_FILE_MAX);
	struct hb_error err = { 0 };

	fill(&a);
	CHECK_INT(record_format(&a, &text, &err), 0);
	CHECK_INT(record_parse(text.data, text.len, &b, &err), 0);
	check_same(&a, &b);
}

static void a_file_that_is_cut_is_not_believed(void)
{
	auto_record struct session_record a = { 0 };
	auto_buf struct buf text = BUF_INIT(RECORD_FILE_MAX);

	fill(&a);
	CHECK_INT(record_format(&a, &text, NULL), 0);
	for (size_t n = 0; n < text.len; n++) {
		auto_record struct session_record b = { 0 };
		struct hb_error err = { 0 };

		CHECK_INT(record_parse(text.data, n, &b, &err), -HB_E_CORRUPT);
		CHECK(err.text[0] != '\0');
	}
}

static void a_flipped_bit_is_not_believed(void)
{
	auto_record struct session_record a = { 0 };
	auto_buf struct buf text = BUF_INIT(RECORD_FILE_MAX);

	fill(&a);
	CHECK_INT(record_format(&a, &text, NULL), 0);
	for (size_t i = 0; i < 8 * text.len; i++) {
		auto_record struct session_record b = { 0 };
		int r;

		text.data[i / 8] ^= (char)(1 << i % 8);
		r = record_parse(text.data, text.len, &b, NULL);
		/* The version may become a greater number. */
		CHECK(r == -HB_E_CORRUPT || r == -HB_E_STATE);
		text.data[i / 8] ^= (char)(1 << i % 8);
	}
}

static void check_refused(const char *body, int want)
{
	auto_record struct session_record b = { 0 };
	auto_buf struct buf text = BUF_INIT(RECORD_FILE_MAX);
	uint8_t digest[SHA256_SIZE];
	char hex[SHA256_HEX_SIZE];
	struct hb_error err = { 0 };

	sha256_of(body, strlen(body), digest);
	sha256_hex(digest, hex);
	CHECK_INT(buf_add_fmt(&text, "%ssum = %s\n", body, hex), 0);
	CHECK_INT(record_parse(text.data, text.len, &b, &err), want);
	CHECK(err.text[0] != '\0');
}

static void nonsense_with_a_right_sum_is_refused(void)
{
	check_refused("version = 2\nid = x\n", -HB_E_STATE);
	check_refused("version = 0\n", -HB_E_CORRUPT);
	check_refused("id = x\n", -HB_E_CORRUPT);
	check_refused("version = 1\n", -HB_E_CORRUPT);
	check_refused("version = 1\nid = x\nname = n\n", -HB_E_CORRUPT);
	check_refused("version = 1\nid = x\nname = n\nresource = relative\n"
		      "inside = /\n",
		      -HB_E_CORRUPT);
	check_refused("version = 1\nid = x\nname = n\nresource = /a\n",
		      -HB_E_CORRUPT);
	check_refused("version = 1\nid = 0123456789abcdef0\n", -HB_E_CORRUPT);
	check_refused("version = 1\nstate = asleep\n", -HB_E_CORRUPT);
	check_refused("version = 1\nunknown = 1\n", -HB_E_CORRUPT);
	check_refused("version = 1\nname = \"a\\000b\"\n", -HB_E_CORRUPT);
	check_refused("version = 1\nresource = /a\nt0 = 1.5\n", -HB_E_CORRUPT);
	check_refused("version = 1\nresource = /a\ntype = papyrus\n",
		      -HB_E_STATE);
}

/* Earlier versions refuse a key that they do not know. */
static void the_type_of_a_directory_is_not_written(void)
{
	auto_record struct session_record a = { 0 };
	auto_buf struct buf text = BUF_INIT(RECORD_FILE_MAX);

	fill(&a);
	CHECK_INT(record_format(&a, &text, NULL), 0);
	CHECK(a.resources[0].type == RESOURCE_FS_DIRECTORY);
	CHECK(strstr(buf_str(&text), "type = ") == NULL);
}

static void every_type_has_a_name_of_its_own(void)
{
	for (enum resource_type type = 0; type < RESOURCE_N_TYPES; type++)
		CHECK(resource_type_find(resource_type_name(type)) == type);
	CHECK(resource_type_find("papyrus") == RESOURCE_N_TYPES);
}

static void names_are_checked(void)
{
	static const char *const good[] = { "a",     "fix-2", "Größe",
					    "a.b_c", "a b",   "x@y" };
	static const char *const bad[] = {
		"",
		"/",
		"a/b",
		".",
		"..",
		".hidden",
		"-x",
		"@a",
		"a\nb",
		"\033[m",
		" a",
		"a ",
		"\xff",
		"01234567890123456789012345678901234567890123456789012345678901"
		"234",
		"a\xe2\x80\xae"
		"b",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK_INT(record_check_name("session", good[i], NULL), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct hb_error err = { 0 };

		CHECK_INT(record_check_name("session", bad[i], &err),
			  -HB_E_USAGE);
		CHECK(!strchr(err.text, '\033') && !strchr(err.text, '\n'));
	}
}

static void a_file_is_replaced_whole(void)
{
	auto_record struct session_record a = { 0 }, b = { 0 };
	auto_free char *top = NULL;
	const char *tmp = getenv("TMPDIR");
	auto_fd int dir = -1;

	CHECK(asprintf(&top, "%s/record.XXXXXX", tmp ? tmp : "/tmp") > 0);
	CHECK(mkdtemp(top));
	dir = open(top, O_RDONLY | O_DIRECTORY);
	CHECK(dir >= 0);
	CHECK_INT(record_read(dir, &b, NULL), -ENOENT);
	fill(&a);
	/* What a dead process left is in nobody's way. */
	CHECK_INT(symlinkat("elsewhere", dir, "unrelated"), 0);
	CHECK_INT(record_write(dir, &a, true, NULL), 0);
	CHECK_INT(record_read(dir, &b, NULL), 0);
	check_same(&a, &b);
	CHECK_INT(faccessat(dir, "session.new", F_OK, 0), -1);
	CHECK_INT(unlinkat(dir, "session", 0), 0);
	CHECK_INT(symlinkat("unrelated", dir, "session"), 0);
	record_done(&b);
	CHECK_INT(record_read(dir, &b, NULL), -ELOOP);
	CHECK_INT(unlinkat(dir, "session", 0), 0);
	CHECK_INT(unlinkat(dir, "unrelated", 0), 0);
	CHECK_INT(rmdir(top), 0);
}

TESTS(T(what_was_written_is_read), T(a_file_that_is_cut_is_not_believed),
      T(a_flipped_bit_is_not_believed), T(nonsense_with_a_right_sum_is_refused),
      T(the_type_of_a_directory_is_not_written),
      T(every_type_has_a_name_of_its_own), T(names_are_checked),
      T(a_file_is_replaced_whole))
