/* SPDX-License-Identifier: Apache-2.0 */
#include "box/filter/filter.h"
#include "box/filter/filter_policy.h"
#include "sys/kernel.h"

#include <errno.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * mkfilter POLICY > filter_table.h
 *
 * For every architecture and variant one program: a prologue of ours, then what
 * libseccomp makes of the rules it can name.
 *
 *	if (arch != ours)		 return ENOSYS
 *	if (nr > last && nr != -1)	 return ENOSYS
 *	if (nr is one to notify of)	 if (its bit is set) return EPERM
 *	if (nr is one to hear of)	 never, without a listener
 *	if (nr >= first given by number) one test for each of those
 *	the program of libseccomp
 *
 * libseccomp has neither rules on ranges nor, when it generates for another
 * architecture, rules on numbers it has no name for.  All jumps of the prologue
 * stay within it or fall off its end, and the rest is position independent.  So
 * the two can be put one after the other.
 *
 * A call to notify of is refused in the prologue as the rules refuse it anyway.
 * That instruction has a known place, where the loader puts another verdict.
 * libseccomp may share its own among rules.
 *
 * A call to hear of is compared with a number that no call has.  The loader
 *puts the call's there.  Then no rule below decides about it: its listener
 *does.
 *
 * One program more for each architecture, filter_watch, has the calls to watch
 * as well, and neither refusals nor variants: box/filter/filter.h.
 */

#define MAX_INSNS   4096 /* BPF_MAXINSNS */
#define OFFSET_NR   0
#define OFFSET_ARCH 4
/* The lower half of an argument, on machines that have it first. */
#define OFFSET_ARG(n) (16 + 8 * (uint32_t)(n))
#define BPF_LOAD      0x20 /* BPF_LD | BPF_W | BPF_ABS */
#define BPF_EQUAL     0x15 /* BPF_JMP | BPF_JEQ | BPF_K */
#define BPF_ABOVE     0x25 /* BPF_JMP | BPF_JGT | BPF_K */
#define BPF_FROM      0x35 /* BPF_JMP | BPF_JGE | BPF_K */
#define BPF_HAS_BIT   0x45 /* BPF_JMP | BPF_JSET | BPF_K */
#define BPF_RETURN    0x06 /* BPF_RET | BPF_K */
#define NO_CALL	      0xffffffffU
/* Above every `last`: refused before it is compared. */
#define NEVER	     0xfffffffeU
#define RET_ERROR(e) (0x00050000U | (uint32_t)(e))
#define RET_ALLOW    0x7fff0000U
/* The most values that argN!=A|B|C may enumerate, one rule each. */
#define MAX_GAP 64

static const struct {
	const char *name;
	uint32_t token; /* libseccomp's and the kernel's value are the same */
} arches[POLICY_ARCHES] = {
	[POLICY_X86_64] = { "x86_64", SCMP_ARCH_X86_64 },
	[POLICY_AARCH64] = { "aarch64", SCMP_ARCH_AARCH64 },
};

struct program {
	struct k_sock_filter insns[MAX_INSNS];
	size_t n;
	struct filter_place notified[FILTER_WATCHED_MAX];
	size_t n_notified;
};

static int check_call(const struct policy *p, const struct policy_rule *rule)
{
	int present = 0;

	for (size_t a = 0; a < POLICY_ARCHES; a++) {
		int nr = seccomp_syscall_resolve_name_arch(arches[a].token,
							   rule->call);

		if (rule->number >= 0 && nr >= 0 && nr != rule->number)
			return policy_fail(p, rule->line, "'%s' is %d on %s",
					   rule->call, nr, arches[a].name);
		if (rule->number < 0 && nr == __NR_SCMP_ERROR)
			return policy_fail(
				p, rule->line,
				"unknown system call '%s'; a call newer than libseccomp is written NAME=NUMBER",
				rule->call);
		if (rule->number < 0 && nr > p->last[a])
			return policy_fail(p, rule->line,
					   "'%s' is %d, above 'last %s'",
					   rule->call, nr, arches[a].name);
		present |= rule->number >= 0 || nr >= 0;
	}
	if (!present)
		return policy_fail(p, rule->line,
				   "'%s' exists on no architecture",
				   rule->call);
	return 0;
}

static int check_watched(const struct policy *p)
{
	for (size_t i = 0; i < p->n_watched; i++) {
		struct policy_rule rule = { .line = p->watched[i].line,
					    .number = p->watched[i].number };

		memcpy(rule.call, p->watched[i].call, sizeof(rule.call));
		if (check_call(p, &rule) < 0)
			return -1;
	}
	return 0;
}

/* The largest value of a "none of" list, which bounds what is enumerated. */
static uint64_t max_value(const struct policy_cond *c)
{
	uint64_t max = 0;

	for (size_t i = 0; i < c->n_values; i++)
		if (c->value[i] > max)
			max = c->value[i];
	return max;
}

static int is_listed(const struct policy_cond *c, uint64_t value)
{
	for (size_t i = 0; i < c->n_values; i++)
		if (c->value[i] == value)
			return 1;
	return 0;
}

static int add_rule(const struct policy *p, const struct policy_rule *rule,
		    scmp_filter_ctx ctx, const struct scmp_arg_cmp *cmp)
{
	/*
	 * The native number, also for another architecture: libseccomp
	 * translates it by name.
	 */
	int nr = seccomp_syscall_resolve_name(rule->call);
	int r = seccomp_rule_add_array(ctx,
				       SCMP_ACT_ERRNO((uint32_t)rule->error),
				       nr, (unsigned int)rule->n_conds, cmp);

	if (r < 0)
		return policy_fail(p, rule->line, "libseccomp refuses '%s': %s",
				   rule->call, strerror(-r));
	return 0;
}

/* SCMP_CMP64() leaves a field out, which not every compiler takes. */
static struct scmp_arg_cmp compare(const struct policy_cond *c,
				   enum scmp_compare op, uint64_t a, uint64_t b)
{
	return (struct scmp_arg_cmp){
		.arg = c->arg, .op = op, .datum_a = a, .datum_b = b
	};
}

/*
 * "None of A, B, C" as rules of libseccomp, which has only one comparison per
 * argument.  One rule is for each value between them, one for all above.
 */
static int add_gaps(const struct policy *p, const struct policy_rule *rule,
		    scmp_filter_ctx ctx, struct scmp_arg_cmp *cmp, size_t at)
{
	const struct policy_cond *c = &rule->cond[at];
	uint64_t max = max_value(c);

	if (max > MAX_GAP)
		return policy_fail(p, rule->line, "a list of values above %d",
				   MAX_GAP);
	for (uint64_t v = 0; v < max; v++) {
		if (is_listed(c, v))
			continue;
		cmp[at] = compare(c, SCMP_CMP_EQ, v, 0);
		if (add_rule(p, rule, ctx, cmp) < 0)
			return -1;
	}
	cmp[at] = compare(c, SCMP_CMP_GT, max, 0);
	return add_rule(p, rule, ctx, cmp);
}

static int add_named(const struct policy *p, const struct policy_rule *rule,
		     scmp_filter_ctx ctx)
{
	struct scmp_arg_cmp cmp[POLICY_MAX_CONDS];
	size_t list = POLICY_MAX_CONDS;

	for (size_t i = 0; i < rule->n_conds; i++) {
		const struct policy_cond *c = &rule->cond[i];

		if (c->op == POLICY_EQ) {
			cmp[i] = compare(c, SCMP_CMP_EQ, c->value[0], 0);
		} else if (c->op == POLICY_ABOVE) {
			cmp[i] = compare(c, SCMP_CMP_GT, c->value[0], 0);
		} else if (c->op == POLICY_MASK_EQ) {
			cmp[i] = compare(c, SCMP_CMP_MASKED_EQ, c->mask,
					 c->value[0]);
		} else if (c->n_values == 1) {
			cmp[i] = compare(c, SCMP_CMP_NE, c->value[0], 0);
		} else if (list == POLICY_MAX_CONDS) {
			list = i;
		} else {
			return policy_fail(p, rule->line,
					   "two lists of values in one rule");
		}
	}
	if (list < POLICY_MAX_CONDS)
		return add_gaps(p, rule, ctx, cmp, list);
	return add_rule(p, rule, ctx, cmp);
}

/* Appends what libseccomp makes of CTX to PROG. */
static int append_export(const struct policy *p, scmp_filter_ctx ctx,
			 struct program *prog)
{
	FILE *f = tmpfile();
	size_t room = MAX_INSNS - prog->n;
	size_t n;
	int r;

	if (!f)
		return policy_fail(p, 0, "cannot make a temporary file: %s",
				   strerror(errno));
	r = seccomp_export_bpf(ctx, fileno(f));
	if (r == 0 && lseek(fileno(f), 0, SEEK_SET) < 0)
		r = -errno;
	n = fread(prog->insns + prog->n, sizeof(prog->insns[0]), room, f);
	(void)fclose(f);
	if (r < 0 || n == 0 || n == room)
		return policy_fail(p, 0, "cannot export %zu instructions: %s",
				   n, strerror(-r));
	prog->n += n;
	return 0;
}

static int add_rules(const struct policy *p, enum policy_arch arch,
		     unsigned int variant, scmp_filter_ctx ctx)
{
	uint32_t token = arches[arch].token;
	int r;

	if (token != seccomp_arch_native()) {
		r = seccomp_arch_add(ctx, token);
		if (r == 0)
			r = seccomp_arch_remove(ctx, SCMP_ARCH_NATIVE);
		if (r < 0)
			return policy_fail(p, 0, "no architecture %s: %s",
					   arches[arch].name, strerror(-r));
	}
	/* 2 is a binary tree: the list of 1 takes twice as long to load. */
	r = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (r == 0)
		r = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH,
				     SCMP_ACT_ERRNO(ENOSYS));
	if (r < 0)
		return policy_fail(p, 0, "libseccomp is older than 2.5");
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct policy_rule *rule = &p->rules[i];

		if (!(rule->variants & (1U << variant)) || rule->number >= 0 ||
		    seccomp_syscall_resolve_name_arch(token, rule->call) < 0)
			continue;
		if (add_named(p, rule, ctx) < 0)
			return -1;
	}
	return 0;
}

static void emit(struct program *prog, uint16_t code, uint8_t jt, uint8_t jf,
		 uint32_t k)
{
	prog->insns[prog->n++] = (struct k_sock_filter){
		.code = code, .jt = jt, .jf = jf, .k = k
	};
}

/* What answers, if the bits of the condition say so. */
static void emit_verdict(const struct policy_notify *notify, uint32_t verdict,
			 struct program *prog)
{
	uint8_t is_none =
		notify->cond.op == POLICY_MASK_EQ && notify->cond.value[0] == 0;

	if (notify->has_cond) {
		emit(prog, BPF_LOAD, 0, 0, OFFSET_ARG(notify->cond.arg));
		emit(prog, BPF_HAS_BIT, is_none, !is_none,
		     (uint32_t)notify->cond.mask);
	}
	emit(prog, BPF_RETURN, 0, 0, verdict);
	if (notify->has_cond)
		emit(prog, BPF_LOAD, 0, 0, OFFSET_NR);
}

static int number_of(const struct policy_notify *notify, enum policy_arch arch)
{
	return notify->number >= 0 ? notify->number
				   : seccomp_syscall_resolve_name_arch(
					     arches[arch].token, notify->call);
}

/* `refusal`: the verdict of FILTER_REFUSED where there is no listener. */
static void emit_place(const struct policy_notify *notify, int nr,
		       uint32_t refusal, struct program *prog)
{
	bool is_refused = notify->class == FILTER_REFUSED;
	size_t at = prog->n;

	emit(prog, BPF_EQUAL, 0, notify->has_cond ? 4 : 1,
	     is_refused ? (uint32_t)nr : NEVER);
	emit_verdict(notify, is_refused ? refusal : K_SECCOMP_RET_USER_NOTIF,
		     prog);
	prog->notified[prog->n_notified++] = (struct filter_place){
		.at = (unsigned short)(is_refused ? at + 3 : at),
		.class = (unsigned char)notify->class,
		.nr = nr,
	};
}

static void emit_notified(const struct policy *p, enum policy_arch arch,
			  unsigned int variant, struct program *prog)
{
	for (size_t i = 0; i < p->n_notified; i++) {
		const struct policy_notify *notify = &p->notified[i];
		int nr = number_of(notify, arch);

		if (nr >= 0 && notify->variants & (1U << variant))
			emit_place(notify, nr, RET_ERROR(EPERM), prog);
	}
	prog->notified[prog->n_notified].class = FILTER_CLASSES;
}

/* Another architecture is refused by the other program. */
static void make_watch(const struct policy *p, enum policy_arch arch,
		       struct program *prog)
{
	*prog = (struct program){ 0 };
	emit(prog, BPF_LOAD, 0, 0, OFFSET_ARCH);
	emit(prog, BPF_EQUAL, 1, 0, arches[arch].token);
	emit(prog, BPF_RETURN, 0, 0, RET_ALLOW);
	emit(prog, BPF_LOAD, 0, 0, OFFSET_NR);
	for (size_t i = 0; i < p->n_notified; i++)
		if (number_of(&p->notified[i], arch) >= 0)
			emit_place(&p->notified[i],
				   number_of(&p->notified[i], arch), RET_ALLOW,
				   prog);
	for (size_t i = 0; i < p->n_watched; i++)
		if (number_of(&p->watched[i], arch) >= 0)
			emit_place(&p->watched[i],
				   number_of(&p->watched[i], arch), RET_ALLOW,
				   prog);
	prog->notified[prog->n_notified].class = FILTER_CLASSES;
	emit(prog, BPF_RETURN, 0, 0, RET_ALLOW);
}

static int make_prologue(const struct policy *p, enum policy_arch arch,
			 unsigned int variant, struct program *prog)
{
	uint32_t first = 0;
	size_t n = 0;

	for (size_t i = 0; i < p->n_rules; i++) {
		const struct policy_rule *rule = &p->rules[i];

		if (rule->number < 0 || !(rule->variants & (1U << variant)))
			continue;
		if (n++ == 0 || (uint32_t)rule->number < first)
			first = (uint32_t)rule->number;
	}
	if (2 * n > UINT8_MAX)
		return policy_fail(p, 0, "too many calls given by number");

	emit(prog, BPF_LOAD, 0, 0, OFFSET_ARCH);
	emit(prog, BPF_EQUAL, 0, 3, arches[arch].token);
	emit(prog, BPF_LOAD, 0, 0, OFFSET_NR);
	emit(prog, BPF_ABOVE, 0, 2, (uint32_t)p->last[arch]);
	emit(prog, BPF_EQUAL, 1, 0, NO_CALL);
	emit(prog, BPF_RETURN, 0, 0, RET_ERROR(ENOSYS));
	emit_notified(p, arch, variant, prog);
	emit(prog, BPF_FROM, 0, (uint8_t)(2 * n), first);
	for (size_t i = 0; i < p->n_rules; i++) {
		const struct policy_rule *rule = &p->rules[i];

		if (rule->number < 0 || !(rule->variants & (1U << variant)))
			continue;
		emit(prog, BPF_EQUAL, 0, 1, (uint32_t)rule->number);
		emit(prog, BPF_RETURN, 0, 0, RET_ERROR(rule->error));
	}
	return 0;
}

static int make_program(const struct policy *p, enum policy_arch arch,
			unsigned int variant, struct program *prog)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int r;

	if (!ctx)
		return policy_fail(p, 0, "out of memory");
	*prog = (struct program){ 0 };
	r = make_prologue(p, arch, variant, prog);
	if (r == 0)
		r = add_rules(p, arch, variant, ctx);
	if (r == 0)
		r = append_export(p, ctx, prog);
	seccomp_release(ctx);
	return r;
}

static void print_program(const struct program *prog, const char *arch,
			  const char *variant)
{
	printf("static const struct k_sock_filter filter_%s_%s[%zu] = {\n",
	       arch, variant, prog->n);
	for (size_t i = 0; i < prog->n; i++)
		printf("\t{ 0x%02x, %u, %u, 0x%08x },\n", prog->insns[i].code,
		       prog->insns[i].jt, prog->insns[i].jf, prog->insns[i].k);
	printf("};\n");
}

static void print_places(const struct filter_place *place)
{
	printf("{");
	do
		printf(" { %u, %u, %d },", place->at, place->class, place->nr);
	while ((place++)->class < FILTER_CLASSES);
	printf(" }");
}

static void print_watch(const struct policy *p, enum policy_arch arch,
			size_t *longest)
{
	static struct program prog;
	const char *name = arches[arch].name;

	make_watch(p, arch, &prog);
	print_program(&prog, name, "watch");
	printf("static const struct k_sock_fprog filter_watch_%s = "
	       "{ %zu, filter_%s_watch };\n"
	       "static const struct filter_place filter_watched_%s[%d] = ",
	       name, prog.n, name, name, FILTER_WATCHED_MAX);
	print_places(prog.notified);
	printf(";\n");
	if (prog.n > *longest)
		*longest = prog.n;
}

static int print_arch(const struct policy *p, enum policy_arch arch,
		      size_t *longest)
{
	static struct program prog;
	const char *name = arches[arch].name;
	struct filter_place notified[FILTER_VARIANTS][FILTER_NOTIFIED_MAX];
	size_t n[FILTER_VARIANTS];

	printf("\n#if defined(__%s__) || defined(FILTER_EVERY_ARCH)\n", name);
	for (unsigned int v = 0; v < FILTER_VARIANTS; v++) {
		char variant[8];

		if (make_program(p, arch, v, &prog) < 0)
			return -1;
		(void)snprintf(variant, sizeof(variant), "%u", v);
		print_program(&prog, name, variant);
		n[v] = prog.n;
		memcpy(notified[v], prog.notified, sizeof(notified[v]));
		if (prog.n > *longest)
			*longest = prog.n;
	}
	printf("static const struct k_sock_fprog filter_table_%s[%d] = {\n",
	       name, FILTER_VARIANTS);
	for (unsigned int v = 0; v < FILTER_VARIANTS; v++)
		printf("\t{ %zu, filter_%s_%u },\n", n[v], name, v);
	printf("};\nstatic const struct filter_place filter_notified_%s[%d][%d] = {\n",
	       name, FILTER_VARIANTS, FILTER_NOTIFIED_MAX);
	for (unsigned int v = 0; v < FILTER_VARIANTS; v++) {
		printf("\t");
		print_places(notified[v]);
		printf(",\n");
	}
	printf("};\n");
	print_watch(p, arch, longest);
	printf("#endif\n#if defined(__%s__)\n"
	       "#define filter_table filter_table_%s\n"
	       "#define filter_notified filter_notified_%s\n"
	       "#define filter_watch filter_watch_%s\n"
	       "#define filter_watched filter_watched_%s\n#endif\n",
	       name, name, name, name, name);
	return 0;
}

static int print_header(const struct policy *p)
{
	size_t longest = 0;

	printf("/* SPDX-License-Identifier: Apache-2.0 */\n"
	       "/* Made by mkfilter from default.policy; change that. */\n"
	       "#ifndef HB_BOX_FILTER_TABLE_H\n#define HB_BOX_FILTER_TABLE_H\n"
	       "\n#include \"box/filter/filter.h\"\n#include \"sys/kernel.h\"\n"
	       "\n/*\n * filter_table[] and filter_notified[] of the architecture"
	       " compiled for, indexed\n * by enum filter_variant.\n"
	       " * For one .c file to include: every object is static.\n */\n");
	for (unsigned int a = 0; a < POLICY_ARCHES; a++)
		if (print_arch(p, a, &longest) < 0)
			return -1;
	printf("\n#define FILTER_LONGEST %zu\n\n#endif\n", longest);
	if (fflush(stdout) != 0 || ferror(stdout))
		return policy_fail(p, 0, "cannot write: %s", strerror(errno));
	return 0;
}

int main(int argc, char **argv)
{
	static struct policy policy;

	if (argc != 2) {
		(void)fprintf(stderr, "usage: mkfilter POLICY\n");
		return 2;
	}
	if (policy_read(&policy, argv[1]) < 0)
		return 1;
	for (size_t i = 0; i < policy.n_rules; i++)
		if (check_call(&policy, &policy.rules[i]) < 0)
			return 1;
	if (check_watched(&policy) < 0)
		return 1;
	return print_header(&policy) < 0 ? 1 : 0;
}
