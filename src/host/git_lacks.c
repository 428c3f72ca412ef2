/* SPDX-License-Identifier: Apache-2.0 */
#include "host/git_lacks.h"

#include "base/auto.h"
#include "base/gitconfig.h"
#include "sys/file.h"
#include "sys/kernel.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define CONFIG_MAX 16384
#define INSIDE	   (K_RESOLVE_BENEATH | K_RESOLVE_NO_SYMLINKS | K_RESOLVE_NO_XDEV)

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);

	return n >= k && strcmp(name + n - k, end) == 0;
}

/* Of type gitconfig_fn. */
static int note_key(void *ctx, const struct gitconfig_key *key)
{
	struct git_lacks *lacks = ctx;
	bool is_on = !key->value || strcasecmp(key->value, "true") == 0;

	if (strcmp(key->name, "extensions.partialclone") == 0 ||
	    (is_on && strncmp(key->name, "remote.", 7) == 0 &&
	     ends_with(key->name, ".promisor")))
		lacks->is_partial = true;
	return 0;
}

void git_lacks_find(const char *git_dir, struct git_lacks *ret_lacks)
{
	char text[CONFIG_MAX];
	auto_fd int dir =
		sys_openat(AT_FDCWD, git_dir, O_PATH | O_DIRECTORY, 0);
	auto_fd int config = -1;
	auto_fd int lfs = -1;
	struct stat st;
	ssize_t n;

	*ret_lacks = (struct git_lacks){ 0 };
	if (dir < 0)
		return;
	lfs = sys_openat2(dir, "lfs", O_PATH | O_DIRECTORY, 0, INSIDE);
	ret_lacks->has_lfs = lfs >= 0;
	config = sys_openat2(dir, "config", O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
			     INSIDE);
	if (config < 0 || sys_fstat(config, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	n = sys_read(config, text, sizeof(text));
	if (n > 0 && (size_t)n < sizeof(text))
		(void)gitconfig_read(text, (size_t)n, note_key, ret_lacks);
}
