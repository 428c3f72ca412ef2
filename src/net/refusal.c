/* SPDX-License-Identifier: Apache-2.0 */
#include "net/refusal.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The alert of TLS and the status of HTTP for each cause. */
static const struct {
	unsigned char alert;
	const char *status;
} causes[] = {
	[REFUSAL_DENIED] = { 49, "403 Forbidden" },	/* access_denied */
	[REFUSAL_NO_NAME] = { 112, "502 Bad Gateway" }, /* unrecognized_name */
	[REFUSAL_FAILED] = { 80, "502 Bad Gateway" },	/* internal_error */
};

#define SSH_BLOCK	   8
#define SSH_PAD_MIN	   4
#define SSH_DISCONNECT	   1
#define SSH_PROTOCOL_ERROR 2
#define SSH_BEFORE_PAYLOAD 5  /* the length, and that of the padding */
#define SSH_BESIDES_WORDS  13 /* type, reason, two lengths */

static void put32(unsigned char *out, size_t value)
{
	uint32_t v = htonl((uint32_t)value);

	memcpy(out, &v, sizeof(v));
}

static size_t make_tls(unsigned char alert, unsigned char *out)
{
	/* A fatal alert, in the version that every client reads. */
	const unsigned char record[] = { 0x15, 3, 1, 0, 2, 2, alert };

	memcpy(out, record, sizeof(record));
	return sizeof(record);
}

static size_t make_http(const char *status, const char *words, int n,
			unsigned char *out)
{
	return (size_t)snprintf((char *)out, REFUSAL_MAX,
				"HTTP/1.1 %s\r\n"
				"Content-Type: text/plain\r\n"
				"Connection: close\r\n"
				"Content-Length: %d\r\n\r\n%.*s\n",
				status, n + 1, n, words);
}

/* A greeting, and a disconnect before any key exchange. */
static size_t make_ssh(const char *words, size_t n, unsigned char *out)
{
	static const char greeting[] = "SSH-2.0-holdback\r\n";
	unsigned char *packet = out + sizeof(greeting) - 1;
	size_t payload = SSH_BESIDES_WORDS + n;
	size_t pad = SSH_BLOCK - (SSH_BEFORE_PAYLOAD + payload) % SSH_BLOCK;

	if (pad < SSH_PAD_MIN)
		pad += SSH_BLOCK;
	memcpy(out, greeting, sizeof(greeting) - 1);
	memset(packet, 0, SSH_BEFORE_PAYLOAD + payload + pad);
	put32(packet, 1 + payload + pad);
	packet[4] = (unsigned char)pad;
	packet[5] = SSH_DISCONNECT;
	put32(packet + 6, SSH_PROTOCOL_ERROR);
	put32(packet + 10, n);
	memcpy(packet + 14, words, n);
	return sizeof(greeting) - 1 + SSH_BEFORE_PAYLOAD + payload + pad;
}

size_t refusal_make(enum sniff_kind kind, enum refusal_cause cause,
		    const char *words, unsigned char out[REFUSAL_MAX])
{
	size_t n = strnlen(words, REFUSAL_WORDS);

	switch (kind) {
	case SNIFF_TLS:
		return make_tls(causes[cause].alert, out);
	case SNIFF_HTTP:
		return make_http(causes[cause].status, words, (int)n, out);
	case SNIFF_SSH:
		return make_ssh(words, n, out);
	case SNIFF_MORE:
	case SNIFF_OTHER:
	case SNIFF_END:
		break;
	}
	return 0;
}
