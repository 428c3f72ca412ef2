/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_SYS_NET_NETLINK_H
#define HB_SYS_NET_NETLINK_H

#include <stddef.h>
#include <stdint.h>

/*
 * rtnetlink and nf_tables in our own words, as in sys/kernel.h: musl ships no
 * headers of the kernel.  Numbers of nf_tables are big-endian on the wire.
 */

#define K_NETLINK_ROUTE	    0
#define K_NETLINK_NETFILTER 12

struct k_nlmsg {
	uint32_t len;
	uint16_t type, flags;
	uint32_t seq, pid;
};
#define K_NLM_REQUEST	 0x001
#define K_NLM_ACK	 0x004
#define K_NLM_EXCL	 0x200
#define K_NLM_CREATE	 0x400
#define K_NLM_TYPE_ERROR 2

struct k_nlattr {
	uint16_t len, type;
};
#define K_NLA_NESTED 0x8000

/* rtnetlink */
#define K_RTM_NEWLINK  16
#define K_RTM_NEWADDR  20
#define K_RTM_NEWROUTE 24
struct k_link {
	uint8_t family, pad;
	uint16_t type;
	int32_t index;
	uint32_t flags, change;
};
#define K_LINK_UP 0x1
struct k_address {
	uint8_t family, prefix, flags, scope;
	uint32_t index;
};
#define K_ADDRESS_ADDRESS   1
#define K_ADDRESS_LOCAL	    2
#define K_ADDRESS_NODAD	    0x02
#define K_ADDRESS_PERMANENT 0x80
struct k_route {
	uint8_t family, to_bits, from_bits, tos, table, protocol, scope, type;
	uint32_t flags;
};
#define K_ROUTE_TABLE_LOCAL 255
#define K_ROUTE_STATIC	    4
#define K_ROUTE_SCOPE_HOST  254
#define K_ROUTE_LOCAL	    2
#define K_ROUTE_OIF	    4
#define K_ROUTE_PREFSRC	    7

/* nf_tables */
#define K_NFNL_BATCH_BEGIN 16
#define K_NFNL_BATCH_END   17
#define K_NFNL_TABLES	   10
#define K_NFT_NEWTABLE	   0
#define K_NFT_NEWCHAIN	   3
#define K_NFT_NEWRULE	   6
struct k_nfgen {
	uint8_t family, version;
	uint16_t resource; /* big-endian */
};
#define K_NFPROTO_INET	       1
#define K_NFPROTO_IPV4	       2
#define K_NFPROTO_IPV6	       10
#define K_NF_PRE_ROUTING       0
#define K_NF_LOCAL_OUT	       3
#define K_NF_ACCEPT	       1
#define K_NFT_TABLE_NAME       1
#define K_NFT_CHAIN_TABLE      1
#define K_NFT_CHAIN_NAME       3
#define K_NFT_CHAIN_HOOK       4
#define K_NFT_CHAIN_TYPE       7
#define K_NFT_HOOK_NUMBER      1
#define K_NFT_HOOK_PRIORITY    2
#define K_NFT_RULE_TABLE       1
#define K_NFT_RULE_CHAIN       2
#define K_NFT_RULE_EXPRESSIONS 4
#define K_NFT_LIST_ELEMENT     1
#define K_NFT_EXPR_NAME	       1
#define K_NFT_EXPR_DATA	       2
#define K_NFT_REG_VERDICT      0
#define K_NFT_REG_1	       1
#define K_NFT_REG_2	       2
#define K_NFT_DATA_VALUE       1
#define K_NFT_DATA_VERDICT     2
#define K_NFT_VERDICT_CODE     1
#define K_NFT_META_DREG	       1
#define K_NFT_META_KEY	       2
#define K_NFT_META_NFPROTO     15
#define K_NFT_META_L4PROTO     16
#define K_NFT_PAYLOAD_DREG     1
#define K_NFT_PAYLOAD_BASE     2
#define K_NFT_PAYLOAD_OFFSET   3
#define K_NFT_PAYLOAD_LEN      4
#define K_NFT_PAYLOAD_NETWORK  1
#define K_NFT_CMP_SREG	       1
#define K_NFT_CMP_OP	       2
#define K_NFT_CMP_DATA	       3
#define K_NFT_CMP_EQ	       0
#define K_NFT_CMP_NEQ	       1
#define K_NFT_IMMEDIATE_DREG   1
#define K_NFT_IMMEDIATE_DATA   2
#define K_NFT_REDIR_PROTO_MIN  1
#define K_NFT_TPROXY_FAMILY    1
#define K_NFT_TPROXY_REG_ADDR  2
#define K_NFT_TPROXY_REG_PORT  3

/*
 * Sends the messages in one datagram and waits for `n_acks` answers.  0, or the
 * first refusal; conventions of sys/file.h.
 */
int sys_netlink(int protocol, const void *messages, size_t size,
		unsigned n_acks);

#endif
