/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_STORE_RESOLVE_H
#define HB_STORE_RESOLVE_H

#include <stddef.h>

struct hb_error;
struct hb_store;

/*
 * The whole name that `ref` stands for, with or without its '@'; what "@" and
 * NULL stand for depends on the working directory.  -HB_E_NO_SESSION.
 */
int store_resolve(const struct hb_store *store, const char *ref, char *ret_name,
		  size_t size, struct hb_error *err);

#endif
