/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "plan/filter/certificates.h"
#include "tap.h"

#include <string.h>

#define BEGIN(label) "-----BEGIN " label "-----"
#define END(label)   "-----END " label "-----"
#define ONE	     BEGIN("CERTIFICATE") "\nQUJD\n" END("CERTIFICATE") "\n"

static void check(const char *text, size_t n, int count, const char *want)
{
	auto_buf struct buf out = BUF_INIT(1000);

	CHECK_INT(certificates_filter(text, n, &out), count);
	CHECK(strcmp(buf_str(&out), want) == 0);
}

static void only_whole_certificates_are_kept(void)
{
	static const struct {
		const char *text;
		int count;
		const char *want;
	} rows[] = {
		{ "", 0, "" },
		{ "no certificate\n", 0, "" },
		{ ONE, 1, ONE },
		{ "words\n" ONE "words\n" ONE, 2, ONE ONE },
		{ BEGIN("PRIVATE KEY") "\nS0VZ\n" END("PRIVATE KEY") "\n" ONE,
		  1, ONE },
		/* Without its end, or with another one. */
		{ BEGIN("CERTIFICATE") "\nQUJD\n", 0, "" },
		{ BEGIN("CERTIFICATE") "\nQUJD\n" END("PRIVATE KEY") "\n", 0,
		  "" },
		{ BEGIN("CERTIFICATE") "\nQUJD\n" ONE, 1, ONE },
		/* What is no base 64. */
		{ BEGIN("CERTIFICATE") "\nQ JD\n" END("CERTIFICATE") "\n", 0,
		  "" },
		{ BEGIN("CERTIFICATE") "\nkey: x\n\nQUJD\n" END(
			  "CERTIFICATE") "\n",
		  0, "" },
		{ "x" ONE, 0, "" },
		{ BEGIN("CERTIFICATE") "x\nQUJD\n" END("CERTIFICATE") "\n", 0,
		  "" },
		/* The last line may lack its end. */
		{ BEGIN("CERTIFICATE") "\nQUJD\n" END("CERTIFICATE"), 1, ONE },
		{ BEGIN("TRUSTED CERTIFICATE") "\nQUJD\n" END(
			  "TRUSTED CERTIFICATE"),
		  1,
		  BEGIN("TRUSTED CERTIFICATE") "\nQUJD\n" END(
			  "TRUSTED CERTIFICATE") "\n" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(rows[i].text, strlen(rows[i].text), rows[i].count,
		      rows[i].want);
}

static void a_zero_byte_is_no_certificate(void)
{
	static const char text[] =
		BEGIN("CERTIFICATE") "\nQU\0D\n" END("CERTIFICATE") "\n" ONE;

	check(text, sizeof(text) - 1, 1, ONE);
}

static void too_much_is_an_error(void)
{
	auto_buf struct buf out = BUF_INIT(10);

	CHECK(certificates_filter(ONE, strlen(ONE), &out) < 0);
}

TESTS(T(only_whole_certificates_are_kept), T(a_zero_byte_is_no_certificate),
      T(too_much_is_an_error))
