/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BOX_SCREEN_FILTER_H
#define HB_BOX_SCREEN_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a command shows on its terminal, on the way to the user's.
 *
 * Everything passes byte by byte as it is, but for
 *
 *	- questions whose answer carries text, which the terminal would type:
 *	  titles, settings, colours, terminfo, versions, contents of the screen,
 *	  the clipboard;
 *	- any question while the answer could not reach the command;
 *	- the clipboard, unless it may be set, and then up to SCREEN_COPY_MAX;
 *	- sequences that have the terminal open files or run commands;
 *	- control sequences longer than any real one.
 *
 * Text is UTF-8; a C1 control is one by itself or as UTF-8.  Sequences may be
 * split anywhere: the beginning of one is held until it is known what it is.
 * Pure: no system call, no allocation.
 */

#define SCREEN_HELD_MAX 4096
#define SCREEN_COPY_MAX ((size_t)100 * 1024)
#define SCREEN_END_MAX	512

enum screen_state {
	SCREEN_GROUND,
	SCREEN_ESCAPE, /* ESC, and what stands between it and its end */
	SCREEN_CSI,
	SCREEN_CSI_DROP,
	SCREEN_OSC_HEAD, /* its number */
	SCREEN_OSC_HOLD, /* until it is known whether it asks */
	SCREEN_PALETTE,	 /* the console's ESC ] P, which has no end */
	SCREEN_DCS_HEAD,
	SCREEN_APC_HEAD,
	SCREEN_PASS, /* a string that passes, to its end */
	SCREEN_DROP, /* and a sequence without it */
};

struct screen_filter {
	enum screen_state state;
	bool is_string_escape; /* ESC in a string: its end, or another begins */
	bool is_open;	       /* what has passed last is no whole sequence */
	bool is_lead;	       /* 0xc2 was held: a C1 control may follow */
	unsigned need;	       /* bytes that a character still has to come */
	unsigned number;       /* of an OSC, or bytes of a palette to come */
	char *held;
	size_t n_held, room;

	/* Set by the caller, at any time. */
	bool may_copy;	/* the clipboard may be set */
	bool is_silent; /* no answer could reach the command */

	/* What has passed so far. */
	bool has_escape;    /* anything but text */
	bool has_asked;	    /* a question */
	bool has_copied;    /* the clipboard was set */
	bool has_no_copied; /* it was not, and should have been */
	uint32_t modes;	    /* bit n: row n of the table is not as it was */
	uint32_t marks;	    /* likewise what is no mode */
};

/*
 * `held` is the caller's, of SCREEN_HELD_MAX bytes, and SCREEN_COPY_MAX more if
 * the clipboard may be set.
 */
void screen_filter_init(struct screen_filter *f, char *held, size_t room,
			bool may_copy);

/*
 * Passes `n` bytes on; `out` has room for `n` and all that is held.  Returns
 * how many there are in it.
 */
size_t screen_filter(struct screen_filter *f, const char *in, size_t n,
		     char *out);

/*
 * What puts a terminal back into a state in which words can be read, after what
 * has passed: nothing after mere text.  Returns the number of bytes.
 */
size_t screen_filter_end(struct screen_filter *f, char out[SCREEN_END_MAX]);

#endif
