/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_PLAN_VIEW_ENV_H
#define HB_PLAN_VIEW_ENV_H

struct hb_error;
struct plan;
struct view_host;
struct view_request;

/* Is "1" in every box. */
#define VIEW_ENV_INSIDE "HOLDBACK"

/*
 * The name of the session, if there is one, and the directory of the project.
 * Inside, these are no settings.
 */
#define VIEW_ENV_SESSION "HOLDBACK_SESSION"
#define VIEW_ENV_PROJECT "HOLDBACK_PROJECT"

/* Pass where the network is the host's; NULL at the end. */
extern const char *const view_env_proxies[];

/* Name a file of certificates; NULL at the end. */
extern const char *const view_env_authorities[];

/*
 * Adds the environment of `holdback run` to a plan that has its operations.
 * First come the caller's variables by an allow-list, then those of the view,
 * last those of the request.
 */
int view_env(const struct view_request *request, const struct view_host *host,
	     struct plan *plan, struct hb_error *err);

#endif
