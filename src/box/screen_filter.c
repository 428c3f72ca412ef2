/* SPDX-License-Identifier: Apache-2.0 */
#include "box/screen_filter.h"

#include "box/screen_text.h"

/*
 * Where terminals differ in how they read a sequence, the reading is the one
 * that finds more of them: ESC begins another one wherever it stands, also in a
 * string, so that what one terminal takes for text is no way past for another.
 *
 * tests/unit/t_screen_filter.c, tests/fuzz/fuzz_screen_filter.c
 */

#define ESC 0x1b
#define BEL 0x07
#define ENQ 0x05
#define CAN 0x18
#define SUB 0x1a
#define SO  0x0e

#define CSI_MAX	    256
#define ANY	    (-1)
#define PALETTE_LEN 7
#define COUNT(a)    (sizeof(a) / sizeof((a)[0]))

struct out {
	char *at;
};

/* Control sequences that ask; `has_text`: for text. */
static const struct {
	char prefix, between, final;
	bool has_text;
	int parameter;
} questions[] = {
	{ 0, 0, 't', true, 20 },    /* icon label */
	{ 0, 0, 't', true, 21 },    /* title */
	{ '>', 0, 'q', true, ANY }, /* version */
	{ 0, '*', 'y', true, ANY }, /* checksum of a part of the screen */
	{ 0, '$', 'w', true, ANY }, /* cursor and tab stops */
	{ 0, '$', 'u', true, ANY }, /* state of the terminal */
	{ 0, '&', 'u', true, ANY }, /* preferred set of characters */
	{ 0, 0, 'c', false, ANY },  /* attributes */
	{ '>', 0, 'c', false, ANY },
	{ '=', 0, 'c', false, ANY },
	{ 0, 0, 'n', false, ANY }, /* status, place of the cursor */
	{ '?', 0, 'n', false, ANY },
	{ 0, 0, 't', false, ANY }, /* size and place of the window */
	{ 0, 0, 'x', false, ANY },
	{ '?', 0, 'u', false, ANY }, /* keyboard */
	{ '?', '$', 'p', false, ANY },
	{ 0, '$', 'p', false, ANY },
	{ '?', 0, 'S', false, ANY },
	{ 0, '"', 'v', false, ANY },
	{ 0, '\'', '|', false, ANY },
	{ 0, '#', '|', false, ANY },
};

/* What is done with an OSC of a number; others are held and looked at. */
static const struct {
	unsigned number;
	enum screen_state state;
} numbers[] = {
	{ 0, SCREEN_PASS },    { 1, SCREEN_PASS },   { 2, SCREEN_PASS },
	{ 7, SCREEN_PASS },    { 8, SCREEN_PASS },   { 9, SCREEN_PASS },
	{ 133, SCREEN_PASS },  { 633, SCREEN_PASS }, { 777, SCREEN_PASS },
	{ 51, SCREEN_DROP }, /* has an editor around it run commands */
	{ 60, SCREEN_DROP },   { 61, SCREEN_DROP }, /* what is allowed */
	{ 5113, SCREEN_DROP },			    /* files */
	{ 5522, SCREEN_DROP },			    /* the clipboard */
};
#define OSC_COPY  52
#define OSC_ITERM 1337

static const char *const iterm_dropped[] = { "ReportVariable", "RequestUpload",
					     "Copy", "CopyToClipboard" };

/* Modes of CSI ? N h, and what they are before a command. */
static const struct {
	unsigned short number;
	bool is_set;
} modes[] = {
	{ 1049, false }, { 1047, false }, { 47, false },   { 25, true },
	{ 1, false },	 { 5, false },	  { 6, false },	   { 7, true },
	{ 9, false },	 { 66, false },	  { 1000, false }, { 1001, false },
	{ 1002, false }, { 1003, false }, { 1004, false }, { 1005, false },
	{ 1006, false }, { 1015, false }, { 1016, false }, { 2004, false },
	{ 2026, false }, { 2031, false }, { 2048, false }, { 1007, false },
};

/* What else is put back, if it was touched. */
enum {
	MARK_REGION,
	MARK_INSERT,
	MARK_KEYS,
	MARK_OTHER_KEYS,
	MARK_KEYPAD,
	MARK_CURSOR,
};
static const char *const mark_ends[] = {
	[MARK_REGION] = "\0337\033[r\0338",
	[MARK_INSERT] = "\033[4l",
	[MARK_KEYS] = "\033[<99u\033[=0u",
	[MARK_OTHER_KEYS] = "\033[>4m",
	[MARK_KEYPAD] = "\033>",
	[MARK_CURSOR] = "\033[0 q",
};

void screen_filter_init(struct screen_filter *f, char *held, size_t room,
			bool may_copy)
{
	*f = (struct screen_filter){ .held = held,
				     .room = room,
				     .may_copy = may_copy };
}

static void put(struct out *out, unsigned char c)
{
	*out->at++ = (char)c;
}

static void release(struct screen_filter *f, struct out *out)
{
	if (f->n_held > 0)
		memcpy(out->at, f->held, f->n_held);
	out->at += f->n_held;
	f->n_held = 0;
}

static void go(struct screen_filter *f, enum screen_state state)
{
	f->state = state;
	f->is_string_escape = f->is_lead = false;
}

/* One more byte of a sequence; false: that is longer than `most`. */
static bool keep(struct screen_filter *f, unsigned char c, size_t most)
{
	if (f->n_held >= most || f->n_held >= f->room)
		return false;
	f->held[f->n_held++] = (char)c;
	return true;
}

/* The bytes before may begin a sequence that the bytes behind end. */
static void drop_held(struct screen_filter *f, enum screen_state state,
		      struct out *out)
{
	if (f->is_open)
		put(out, CAN);
	f->is_open = false;
	f->n_held = 0;
	go(f, state);
}

/* A sequence has passed whole. */
static void close_sequence(struct screen_filter *f)
{
	f->is_open = false;
	go(f, SCREEN_GROUND);
}

/* Another one begins in the middle of it. */
static void break_off(struct screen_filter *f, struct out *out)
{
	if (f->state != SCREEN_DROP && f->state != SCREEN_CSI_DROP &&
	    f->state != SCREEN_GROUND) {
		release(f, out);
		f->is_open = true;
	}
	f->n_held = 0;
}

/* ESC and a byte, or a C1 control by itself or in UTF-8. */
static size_t introducer(const struct screen_filter *f)
{
	return f->held[0] == ESC || (unsigned char)f->held[0] == 0xc2 ? 2 : 1;
}

/* The parts of a control sequence. */
struct csi {
	char prefix, between, final;
	int first;	     /* the first number; 0 if there is none */
	const char *numbers; /* where they begin */
	size_t n;
};

static unsigned next_number(const char **at, const char *end)
{
	unsigned n = 0;

	for (; *at < end && **at != ';' && **at != ':'; ++*at)
		if (**at >= '0' && **at <= '9' && n < 100000)
			n = n * 10 + (unsigned)(**at - '0');
	if (*at < end)
		++*at;
	return n;
}

static void read_csi(const struct screen_filter *f, struct csi *c)
{
	const char *at = f->held + introducer(f);
	const char *end = f->held + f->n_held - 1, *first;

	*c = (struct csi){ .final = *end };
	while (at < end && ((unsigned char)*at < ' ' || *at == 0x7f))
		at++;
	if (at < end && *at >= '<' && *at <= '?')
		c->prefix = *at++;
	c->numbers = at;
	c->n = (size_t)(end - at);
	for (const char *s = at; s < end; s++)
		if (*s >= ' ' && *s <= '/')
			c->between = *s;
	first = at;
	c->first = (int)next_number(&first, end);
}

/* Whether it is to be dropped; notes what asks. */
static bool asks(struct screen_filter *f, const struct csi *c)
{
	for (size_t i = 0; i < COUNT(questions); i++) {
		if (questions[i].final != c->final ||
		    questions[i].prefix != c->prefix ||
		    questions[i].between != c->between ||
		    (questions[i].parameter != ANY &&
		     questions[i].parameter != c->first))
			continue;
		if (questions[i].has_text || f->is_silent)
			return true;
		f->has_asked = true;
		return false;
	}
	return false;
}

static void note_mode(struct screen_filter *f, unsigned number, bool is_set)
{
	for (size_t i = 0; i < COUNT(modes); i++) {
		if (modes[i].number != number)
			continue;
		f->modes &= ~(UINT32_C(1) << i);
		if (modes[i].is_set != is_set)
			f->modes |= UINT32_C(1) << i;
	}
}

static void note(struct screen_filter *f, const struct csi *c)
{
	const char *at = c->numbers, *end = at + c->n;
	bool is_mode = c->final == 'h' || c->final == 'l';
	int mark = -1;

	while (is_mode && at < end) {
		unsigned number = next_number(&at, end);

		if (c->prefix == '?')
			note_mode(f, number, c->final == 'h');
		else if (number == 4)
			mark = MARK_INSERT;
	}
	if (c->final == 'r' && !c->prefix && !c->between)
		mark = MARK_REGION;
	if (c->final == 'u' && (c->prefix == '>' || c->prefix == '='))
		mark = MARK_KEYS;
	if (c->final == 'm' && c->prefix == '>')
		mark = MARK_OTHER_KEYS;
	if (c->final == 'q' && c->between == ' ')
		mark = MARK_CURSOR;
	if (mark >= 0)
		f->marks |= UINT32_C(1) << mark;
}

static void end_csi(struct screen_filter *f, struct out *out)
{
	struct csi c;

	read_csi(f, &c);
	if (asks(f, &c)) {
		drop_held(f, SCREEN_GROUND, out);
		return;
	}
	note(f, &c);
	release(f, out);
	close_sequence(f);
}

/* Whether one of the fields of what is held is a question mark. */
static bool has_question(const struct screen_filter *f)
{
	for (size_t i = 0; i < f->n_held; i++) {
		char before = ';', after = ';';

		if (i > 0)
			before = f->held[i - 1];
		if (i + 1 < f->n_held)
			after = f->held[i + 1];
		if (f->held[i] == '?' && strchr(";:=", before) &&
		    strchr(";:,", after))
			return true;
	}
	return false;
}

/* The end of an OSC that was held, `end` of them being its end's. */
static void end_osc(struct screen_filter *f, struct out *out, const char *end)
{
	bool is_copy = f->number == OSC_COPY;
	bool is_dropped = has_question(f) || (is_copy && !f->may_copy);

	if (is_copy && !has_question(f)) {
		f->has_copied |= !is_dropped;
		f->has_no_copied |= is_dropped;
	}
	if (is_dropped) {
		drop_held(f, SCREEN_GROUND, out);
		return;
	}
	release(f, out);
	for (; *end; end++)
		put(out, (unsigned char)*end);
	close_sequence(f);
}

/* A string has come to its end, written as `end`. */
static void end_string(struct screen_filter *f, struct out *out,
		       const char *end)
{
	if (f->state == SCREEN_OSC_HEAD || f->state == SCREEN_OSC_HOLD) {
		bool is_asking = f->state == SCREEN_OSC_HEAD &&
				 (f->number == 60 || f->number == 61);

		if (is_asking)
			drop_held(f, SCREEN_GROUND, out);
		else
			end_osc(f, out, end);
		return;
	}
	if (f->state == SCREEN_DROP) {
		drop_held(f, SCREEN_GROUND, out);
		return;
	}
	release(f, out);
	for (; *end; end++)
		put(out, (unsigned char)*end);
	close_sequence(f);
}

static void begin(struct screen_filter *f, unsigned char kind)
{
	f->has_escape = true;
	f->number = 0;
	f->need = 0;
	switch (kind) {
	case '[':
		go(f, SCREEN_CSI);
		break;
	case ']':
		go(f, SCREEN_OSC_HEAD);
		break;
	case 'P':
		go(f, SCREEN_DCS_HEAD);
		break;
	default:
		go(f, SCREEN_APC_HEAD);
		break;
	}
}

/* Whether C1 control `c` begins a sequence or ends a string. */
static void control(struct screen_filter *f, unsigned char c, struct out *out)
{
	static const char kinds[] = "P\0\0\0\0\0\0\0X\0\0[\0]^_";
	unsigned char kind = c >= 0x90 ? (unsigned char)kinds[c - 0x90] : 0;

	f->has_escape = true;
	if (kind) {
		begin(f, kind);
		return;
	}
	release(f, out);
	close_sequence(f);
}

static void in_escape(struct screen_filter *f, unsigned char c, struct out *out)
{
	if (c == ESC) {
		break_off(f, out);
		(void)keep(f, c, f->room);
		return;
	}
	if (!keep(f, c, CSI_MAX)) {
		drop_held(f, SCREEN_GROUND, out);
		return;
	}
	if (f->n_held == 2 && strchr("[]P_X^", c) && c) {
		begin(f, c);
		return;
	}
	if (c < 0x30 && c != CAN && c != SUB)
		return;
	f->has_escape = true;
	if (f->n_held == 2 && c == 'Z') {
		if (f->is_silent) {
			drop_held(f, SCREEN_GROUND, out);
			return;
		}
		f->has_asked = true;
	}
	if (f->n_held == 2 && c == '=')
		f->marks |= UINT32_C(1) << MARK_KEYPAD;
	release(f, out);
	close_sequence(f);
}

static void in_csi(struct screen_filter *f, unsigned char c, struct out *out)
{
	bool is_end = c >= 0x40 && c <= 0x7e;

	if (c == CAN || c == SUB) {
		release(f, out);
		put(out, c);
		close_sequence(f);
	} else if (f->state == SCREEN_CSI_DROP) {
		if (is_end)
			drop_held(f, SCREEN_GROUND, out);
	} else if (!keep(f, c, CSI_MAX)) {
		drop_held(f, is_end ? SCREEN_GROUND : SCREEN_CSI_DROP, out);
	} else if (is_end) {
		end_csi(f, out);
	}
}

static void decide_osc(struct screen_filter *f, struct out *out)
{
	enum screen_state state = SCREEN_OSC_HOLD;

	for (size_t i = 0; i < COUNT(numbers); i++)
		if (numbers[i].number == f->number)
			state = numbers[i].state;
	if (f->number == OSC_COPY && !f->may_copy) {
		f->has_no_copied = true;
		state = SCREEN_DROP;
	}
	if (state == SCREEN_DROP) {
		drop_held(f, state, out);
		return;
	}
	if (state == SCREEN_PASS)
		release(f, out);
	go(f, state);
}

static void in_osc_head(struct screen_filter *f, unsigned char c,
			struct out *out)
{
	size_t n_digits = f->n_held - introducer(f);

	(void)keep(f, c, f->room);
	if (c >= '0' && c <= '9' && f->n_held < CSI_MAX) {
		if (f->number < 100000)
			f->number = f->number * 10 + (unsigned)(c - '0');
		return;
	}
	if (n_digits == 0 && c == 'P') {
		release(f, out);
		go(f, SCREEN_PALETTE);
		f->number = PALETTE_LEN;
		return;
	}
	if (n_digits == 0 && (c == 'R' || c == 'l' || c == 'L' || c == 'I')) {
		release(f, out);
		go(f, c == 'R' ? SCREEN_GROUND : SCREEN_PASS);
		return;
	}
	if (c == ';' && n_digits > 0)
		decide_osc(f, out);
	else
		go(f, SCREEN_OSC_HOLD);
}

/* iTerm's own have a name, and may be as long as a picture. */
static void decide_iterm(struct screen_filter *f, struct out *out)
{
	const char *name = memchr(f->held, ';', f->n_held);
	size_t n = name ? f->n_held - (size_t)(name - f->held) - 2 : 0;

	for (size_t i = 0; name && i < COUNT(iterm_dropped); i++) {
		if (strlen(iterm_dropped[i]) == n &&
		    memcmp(iterm_dropped[i], name + 1, n) == 0) {
			drop_held(f, SCREEN_DROP, out);
			return;
		}
	}
	release(f, out);
	go(f, SCREEN_PASS);
}

static void in_osc_hold(struct screen_filter *f, unsigned char c,
			struct out *out)
{
	size_t most = f->number == OSC_COPY ? f->room : SCREEN_HELD_MAX;

	if (!keep(f, c, most)) {
		f->has_no_copied |= f->number == OSC_COPY;
		drop_held(f, SCREEN_DROP, out);
		return;
	}
	if (f->number == OSC_ITERM && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
		decide_iterm(f, out);
}

/* A string of a device: settings and terminfo are asked for by these. */
static void in_dcs_head(struct screen_filter *f, unsigned char c,
			struct out *out)
{
	char between = 0;

	if (!keep(f, c, CSI_MAX)) {
		drop_held(f, SCREEN_DROP, out);
		return;
	}
	if (c < 0x40 || c > 0x7e)
		return;
	for (size_t i = 0; i < f->n_held; i++)
		if (f->held[i] >= ' ' && f->held[i] <= '/')
			between = f->held[i];
	if ((between == '$' && c == 'q') ||
	    (between == '+' && (c == 'q' || c == 'Q'))) {
		drop_held(f, SCREEN_DROP, out);
		return;
	}
	release(f, out);
	go(f, SCREEN_PASS);
}

/* Pictures that the terminal is to read from a file of the host. */
static void in_apc_head(struct screen_filter *f, unsigned char c,
			struct out *out)
{
	size_t start = introducer(f);

	if (!keep(f, c, CSI_MAX)) {
		drop_held(f, SCREEN_DROP, out);
		return;
	}
	if (f->held[start] == 'G' && c != ';')
		return;
	for (size_t i = start; f->held[start] == 'G' && i + 3 < f->n_held; i++)
		if (strchr("G,", f->held[i]) && f->held[i + 1] == 't' &&
		    f->held[i + 2] == '=' && strchr("fts", f->held[i + 3])) {
			drop_held(f, SCREEN_DROP, out);
			return;
		}
	if (f->held[start] == 'G' && !f->is_silent)
		f->has_asked = true;
	release(f, out);
	go(f, SCREEN_PASS);
}

static void in_string(struct screen_filter *f, unsigned char c, struct out *out)
{
	if (c == BEL) {
		end_string(f, out, "\007");
		return;
	}
	if (c == CAN || c == SUB) {
		release(f, out);
		put(out, c);
		close_sequence(f);
		return;
	}
	switch (f->state) {
	case SCREEN_OSC_HEAD:
		in_osc_head(f, c, out);
		break;
	case SCREEN_OSC_HOLD:
		in_osc_hold(f, c, out);
		break;
	case SCREEN_DCS_HEAD:
		in_dcs_head(f, c, out);
		break;
	case SCREEN_APC_HEAD:
		in_apc_head(f, c, out);
		break;
	case SCREEN_PALETTE:
		put(out, c);
		if (--f->number == 0)
			close_sequence(f);
		break;
	case SCREEN_PASS:
		put(out, c);
		break;
	case SCREEN_DROP:
	case SCREEN_GROUND:
	case SCREEN_ESCAPE:
	case SCREEN_CSI:
	case SCREEN_CSI_DROP:
		break;
	}
}

static bool is_string(const struct screen_filter *f)
{
	return f->state >= SCREEN_OSC_HEAD;
}

/* One byte that neither begins nor ends anything by itself. */
static void take(struct screen_filter *f, unsigned char c, struct out *out)
{
	if (is_string(f))
		in_string(f, c, out);
	else if (f->state == SCREEN_ESCAPE)
		in_escape(f, c, out);
	else if (f->state != SCREEN_GROUND)
		in_csi(f, c, out);
	else
		put(out, c);
	if (c == SO)
		f->has_escape = true;
}

/* ESC: the end of a string, or the beginning of something else. */
static void escape(struct screen_filter *f, struct out *out)
{
	if (is_string(f)) {
		f->is_string_escape = true;
		return;
	}
	break_off(f, out);
	go(f, SCREEN_ESCAPE);
	(void)keep(f, ESC, f->room);
}

/* After 0xc2: a C1 control in UTF-8, or a character. */
static bool is_c1_pair(struct screen_filter *f, unsigned char c,
		       struct out *out)
{
	f->is_lead = false;
	if (c >= 0x80 && c <= 0x9f) {
		if (is_string(f) && c == 0x9c) {
			end_string(f, out, "\302\234");
			return true;
		}
		break_off(f, out);
		(void)keep(f, 0xc2, f->room);
		(void)keep(f, c, f->room);
		control(f, c, out);
		return true;
	}
	take(f, 0xc2, out);
	if (c >= 0x80 && c <= 0xbf) {
		take(f, c, out);
		return true;
	}
	return false;
}

static void feed(struct screen_filter *f, unsigned char c, struct out *out)
{
	/* Asks for text wherever it stands. */
	if (c == ENQ)
		return;
	if (f->is_lead && is_c1_pair(f, c, out))
		return;
	if (f->is_string_escape) {
		if (c == '\\') {
			end_string(f, out, "\033\\");
			return;
		}
		break_off(f, out);
		go(f, SCREEN_ESCAPE);
		(void)keep(f, ESC, f->room);
	}
	if (c == ESC && f->state != SCREEN_ESCAPE) {
		f->need = 0;
		escape(f, out);
	} else if (c >= 0x80 && c <= 0xbf && f->need > 0) {
		f->need--;
		take(f, c, out);
	} else if (c >= 0x80 && c <= 0x9f) {
		f->need = 0;
		if (is_string(f) && c == 0x9c) {
			end_string(f, out, "\234");
			return;
		}
		break_off(f, out);
		(void)keep(f, c, f->room);
		control(f, c, out);
	} else {
		f->need = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc3 ? 1 : 0;
		if (c == 0xc2)
			f->is_lead = true;
		else
			take(f, c, out);
	}
}

/* Between two sequences: what passes as it is, which is nearly all. */
static size_t pass_text(struct screen_filter *f, const char *in, size_t n,
			struct out *out)
{
	bool has_paint = false;
	size_t length = screen_text_length(in, n, &has_paint);

	if (length > 0)
		memcpy(out->at, in, length);
	out->at += length;
	if (has_paint) {
		f->has_escape = true;
		f->is_open = false;
	}
	return length;
}

size_t screen_filter(struct screen_filter *f, const char *in, size_t n,
		     char *out)
{
	struct out o = { out };
	size_t i = 0;

	while (i < n) {
		if (f->state == SCREEN_GROUND && !f->is_lead && f->need == 0)
			i += pass_text(f, in + i, n - i, &o);
		if (i < n)
			feed(f, (unsigned char)in[i++], &o);
	}
	return (size_t)(o.at - out);
}

size_t screen_filter_end(struct screen_filter *f, char out[SCREEN_END_MAX])
{
	size_t n = 0;

	if (!f->has_escape && f->state == SCREEN_GROUND)
		return 0;
	n += (size_t)snprintf(out + n, SCREEN_END_MAX - n, "\030\033\\");
	for (size_t i = 0; i < COUNT(modes); i++)
		if (f->modes >> i & 1)
			n += (size_t)snprintf(out + n, SCREEN_END_MAX - n,
					      "\033[?%u%c", modes[i].number,
					      modes[i].is_set ? 'h' : 'l');
	for (size_t i = 0; i < COUNT(mark_ends); i++)
		if (f->marks >> i & 1)
			n += (size_t)snprintf(out + n, SCREEN_END_MAX - n, "%s",
					      mark_ends[i]);
	n += (size_t)snprintf(out + n, SCREEN_END_MAX - n,
			      "\033[0m\033(B\017\033[?25h");
	f->modes = f->marks = 0;
	f->has_escape = f->is_open = false;
	f->n_held = 0;
	go(f, SCREEN_GROUND);
	return n;
}
