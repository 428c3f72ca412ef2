/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/cap_names.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <strings.h>

/* In the order of the kernel's numbers. */
static const char *const names[] = {
	"cap_chown",
	"cap_dac_override",
	"cap_dac_read_search",
	"cap_fowner",
	"cap_fsetid",
	"cap_kill",
	"cap_setgid",
	"cap_setuid",
	"cap_setpcap",
	"cap_linux_immutable",
	"cap_net_bind_service",
	"cap_net_broadcast",
	"cap_net_admin",
	"cap_net_raw",
	"cap_ipc_lock",
	"cap_ipc_owner",
	"cap_sys_module",
	"cap_sys_rawio",
	"cap_sys_chroot",
	"cap_sys_ptrace",
	"cap_sys_pacct",
	"cap_sys_admin",
	"cap_sys_boot",
	"cap_sys_nice",
	"cap_sys_resource",
	"cap_sys_time",
	"cap_sys_tty_config",
	"cap_mknod",
	"cap_lease",
	"cap_audit_write",
	"cap_audit_control",
	"cap_setfcap",
	"cap_mac_override",
	"cap_mac_admin",
	"cap_syslog",
	"cap_wake_alarm",
	"cap_block_suspend",
	"cap_audit_read",
	"cap_perfmon",
	"cap_bpf",
	"cap_checkpoint_restore",
};

#define N_NAMES ((int)(sizeof(names) / sizeof(names[0])))

int cap_number(const char *name)
{
	if (isdigit((unsigned char)name[0])) {
		char *end;
		unsigned long n = strtoul(name, &end, 0);

		return *end == '\0' && n < CAP_NUMBERS ? (int)n : -1;
	}
	for (int i = 0; i < N_NAMES; i++) {
		if (strcasecmp(name, names[i]) == 0)
			return i;
	}
	return -1;
}

const char *cap_name(int number)
{
	return number >= 0 && number < N_NAMES ? names[number] : NULL;
}
