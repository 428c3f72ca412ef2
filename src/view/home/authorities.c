/* SPDX-License-Identifier: Apache-2.0 */
#include "view/home/authorities.h"

#include "base/buf.h"
#include "base/env.h"
#include "base/error.h"
#include "base/path.h"
#include "host/look.h"
#include "plan/environment/view_env.h"
#include "plan/filter/certificates.h"
#include "plan/settings.h"
#include "plan/view.h"
#include "view/entry_paths.h"
#include "view/home/bounds.h"
#include "view/home/filtered.h"
#include "view/prepare.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define FILE_SIZE ((size_t)2 << 20)

int authority_show(struct run *run, const char *path, struct hb_error *err)
{
	auto_buf struct buf text = BUF_INIT(FILE_SIZE);
	auto_buf struct buf out = BUF_INIT(FILE_SIZE);
	char real[PATH_MAX], *shown;
	int r;

	if (settings_net(&run->settings) == NET_NONE ||
	    bounds_is_exposed(run, path) || look_real(path, real) < 0 ||
	    bounds_keep_out(run, path) || bounds_keep_out(run, real))
		return 0;
	r = filtered_read(real, &text);
	if (r >= 0)
		r = certificates_filter(buf_str(&text), text.len, &out);
	if (r > 0)
		r = buf_take(&out, &shown, NULL);
	else if (r != -ENOMEM)
		return 0;
	if (r >= 0)
		r = entries_more(run, 1, err);
	if (r < 0)
		return hb_fail(err, r, "cannot show certificates");
	return filtered_show(run, path, shown, err);
}

int authorities_show(struct run *run, struct hb_error *err)
{
	char path[PATH_MAX];
	int r = 0;

	for (size_t i = 0; r >= 0 && view_env_authorities[i]; i++) {
		const char *value =
			env_get(run->host.envp, view_env_authorities[i]);

		if (value && path_is_absolute(value) &&
		    path_normalise(value, PATH_DOTS_FOLD, path, sizeof(path)) >=
			    0)
			r = authority_show(run, path, err);
	}
	return r;
}
