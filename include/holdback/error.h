/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOLDBACK_ERROR_H
#define HOLDBACK_ERROR_H

/*
 * Errors are values.
 *
 * A fallible function returns an int: zero or more is success, less than zero
 * is a negated code.  Codes up to 4095 are errno exactly as the kernel gave it;
 * ours begin above, so one number never means two things.
 *
 * The last parameter is a `struct hb_error *err`.  The caller owns it, zeroes
 * it once and may pass NULL.  Success leaves it untouched.
 *
 * The struct holds no pointers.  A child which may no longer allocate can fill
 * one and write it whole through a pipe, and the parent needs no parser.
 */
enum hb_errc {
	HB_E_UNSUPPORTED = 4096, /* this host cannot enforce what was asked */
	HB_E_CONFLICT,		 /* the base changed under the transaction */
	HB_E_CONFIG,		 /* a configuration contradicts itself */
	HB_E_CORRUPT,		 /* stored state does not match its checksum */
	HB_E_CHILD,		 /* the child died without saying why */
	HB_E_USAGE,		 /* usage error */
	HB_E_DENIED,		 /* the gate does not let it pass */
	HB_E_BUSY,		 /* the session is in use */
	HB_E_NO_SESSION,	 /* there is no such session */
	HB_E_STATE,	     /* the session is in the wrong state for this */
	HB_E_NOT_FOUND,	     /* the command does not exist in the view */
	HB_E_NOT_EXECUTABLE, /* the command exists and cannot be executed */
	HB_E_END	     /* one past the last */
};

#define HB_TEXT_SIZE 480
#define HB_FIX_SIZE  240

struct hb_error {
	int code;  /* positive; 0 means no error so far */
	int stage; /* enum box_stage that failed, 0 outside of set-up */
	char text[HB_TEXT_SIZE]; /* "outer: inner", without strerror */
	char fix[HB_FIX_SIZE];	 /* what the user can do; may be empty */
};

/* Like strerror(), for errno and for our own codes. */
const char *hb_strerror(int code);

#endif
