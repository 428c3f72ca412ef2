/* SPDX-License-Identifier: Apache-2.0 */
#include "git/ancestry.h"

#include "base/auto.h"
#include "base/grow.h"
#include "base/siphash.h"
#include "git/objectstore.h"
#include "sys/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TAGS_MAX 8 /* that lead to one another */

/* When only old ones are left, so many more may still show a new one as old. */
#define SLOP 64

/* The rest of the line if it begins with the word; `*at` is behind it then. */
static const char *take_line(const char **at, const char *word)
{
	size_t n = strlen(word);
	const char *value, *end;

	if (strncmp(*at, word, n) != 0 || (*at)[n] != ' ')
		return NULL;
	value = *at + n + 1;
	end = strchr(value, '\n');
	if (!end)
		return NULL;
	*at = end + 1;
	return value;
}

static bool is_id_line(const char *value, struct git_id *ret_id)
{
	return value && git_id_parse(value, strcspn(value, "\n"), ret_id);
}

bool git_commit_parent(const char **at, struct git_id *ret_id)
{
	return is_id_line(take_line(at, "parent"), ret_id);
}

/* "Name <mail> 1234567890 +0100" */
static int64_t date_of(const char *person)
{
	size_t n = strcspn(person, "\n");

	while (n > 0 && person[n - 1] != '>')
		n--;
	return n > 0 && person[n] == ' ' ? strtoll(person + n + 1, NULL, 10)
					 : 0;
}

int git_commit_parse(const struct git_object *object,
		     struct git_commit *ret_commit)
{
	struct git_commit c = { 0 };
	const char *at = object->data;
	struct git_id id;

	if (object->type != GIT_COMMIT || memchr(at, '\0', object->size) ||
	    !is_id_line(take_line(&at, "tree"), &c.tree))
		return -EBADMSG;
	c.parents = at;
	while (git_commit_parent(&at, &id))
		continue;
	c.author = take_line(&at, "author");
	c.committer = c.author ? take_line(&at, "committer") : NULL;
	if (!c.committer)
		return -EBADMSG;
	c.date = date_of(c.committer);
	while (*at && *at != '\n')
		at += strcspn(at, "\n") + (strchr(at, '\n') != NULL);
	c.end = at;
	while (*at == '\n')
		at++;
	c.subject = at;
	c.subject_len = strcspn(at, "\n");
	*ret_commit = c;
	return 0;
}

enum flag {
	OLD = 1 << 0,
	QUEUED = 1 << 1, /* it is in the heap, or was */
	WAITS = 1 << 2,	 /* it is in the heap */
	MISSING = 1 << 3,
};

struct node {
	struct git_id id;
	int64_t date;
	unsigned flags;
	size_t tip;
	size_t parents, n_parents; /* in `edges` */
	size_t n_children;	   /* new ones that were not told yet */
};

struct walk {
	struct objectstore *store;
	struct siphash_key key;
	struct node *nodes;
	size_t n;
	uint32_t *slots; /* a node's number and 1; 0: free */
	uint32_t *edges;
	size_t n_edges;
	uint32_t *heap; /* the latest date first */
	size_t n_heap;
	size_t n_new; /* of them, not OLD */
};

#define SLOTS (4 * ANCESTRY_MAX)

/* The number of the node, which is made where there is none. */
static int64_t node_of(struct walk *w, const struct git_id *id)
{
	size_t at = (size_t)siphash(&w->key, id->hex, strlen(id->hex)) &
		    (SLOTS - 1);

	for (; w->slots[at]; at = (at + 1) & (SLOTS - 1))
		if (git_id_is_same(&w->nodes[w->slots[at] - 1].id, id))
			return w->slots[at] - 1;
	if (w->n == ANCESTRY_MAX)
		return -EFBIG;
	if (grow(w->nodes, w->n) < 0)
		return -ENOMEM;
	w->nodes[w->n] = (struct node){ .id = *id };
	w->slots[at] = (uint32_t)++w->n;
	return (int64_t)w->n - 1;
}

static bool is_later(const struct walk *w, uint32_t a, uint32_t b)
{
	return w->nodes[a].date > w->nodes[b].date;
}

static int heap_push(struct walk *w, uint32_t node)
{
	size_t at = w->n_heap;

	if (grow(w->heap, w->n_heap) < 0)
		return -ENOMEM;
	w->n_heap++;
	for (; at > 0 && is_later(w, node, w->heap[(at - 1) / 2]);
	     at = (at - 1) / 2)
		w->heap[at] = w->heap[(at - 1) / 2];
	w->heap[at] = node;
	return 0;
}

static uint32_t heap_pop(struct walk *w)
{
	uint32_t top = w->heap[0], last = w->heap[--w->n_heap];
	size_t at = 0, next;

	for (; (next = 2 * at + 1) < w->n_heap; at = next) {
		if (next + 1 < w->n_heap &&
		    is_later(w, w->heap[next + 1], w->heap[next]))
			next++;
		if (!is_later(w, w->heap[next], last))
			break;
		w->heap[at] = w->heap[next];
	}
	w->heap[at] = last;
	return top;
}

static int add_parents(struct walk *w, int64_t number,
		       const struct git_commit *commit)
{
	const char *at = commit->parents;
	struct git_id id;

	w->nodes[number].parents = w->n_edges;
	w->nodes[number].n_parents = 0;
	while (git_commit_parent(&at, &id)) {
		int64_t parent = node_of(w, &id);

		if (parent < 0)
			return (int)parent;
		if (grow(w->edges, w->n_edges) < 0)
			return -ENOMEM;
		w->edges[w->n_edges++] = (uint32_t)parent;
		w->nodes[number].n_parents++;
	}
	return 0;
}

static int read_node(struct walk *w, int64_t number)
{
	struct git_object object = { 0 };
	struct git_commit commit = { 0 };
	int r;

	r = objectstore_read(w->store, &w->nodes[number].id,
			     OBJECTSTORE_COMMIT_MAX, &object);
	if (r == -ENOMEM || r == -EFBIG)
		return r;
	if (r >= 0)
		r = git_commit_parse(&object, &commit);
	if (r < 0) {
		w->nodes[number].flags |= MISSING;
		r = 0;
	} else {
		w->nodes[number].date = commit.date;
		r = add_parents(w, number, &commit);
	}
	free(object.data);
	return r;
}

/* To be looked at: its text gives the place in the heap. */
static int queue(struct walk *w, int64_t number)
{
	int r;

	if (w->nodes[number].flags & QUEUED)
		return 0;
	r = read_node(w, number);
	if (r < 0)
		return r;
	w->nodes[number].flags |= QUEUED | WAITS;
	w->n_new += !(w->nodes[number].flags & OLD);
	return heap_push(w, (uint32_t)number);
}

/* It and all of its ancestors that are known. */
static int mark_old(struct walk *w, uint32_t number)
{
	auto_free uint32_t *stack = NULL;
	size_t n = 0;

	for (;; number = stack[--n]) {
		struct node *node = &w->nodes[number];
		bool is_known = node->flags & OLD;

		node->flags |= OLD;
		w->n_new -= !is_known && node->flags & WAITS;
		for (size_t i = 0; !is_known && i < node->n_parents; i++) {
			if (grow(stack, n) < 0)
				return -ENOMEM;
			stack[n++] = w->edges[node->parents + i];
		}
		if (n == 0)
			return 0;
	}
}

static int visit(struct walk *w, uint32_t number)
{
	bool is_old = w->nodes[number].flags & OLD;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < w->nodes[number].n_parents; i++) {
		uint32_t parent = w->edges[w->nodes[number].parents + i];

		if (is_old)
			r = mark_old(w, parent);
		else if (!(w->nodes[parent].flags & (OLD | QUEUED)))
			w->nodes[parent].tip = w->nodes[number].tip;
		if (r >= 0)
			r = queue(w, parent);
	}
	return r;
}

static int run(struct walk *w)
{
	size_t slop = SLOP;
	int r = 0;

	while (r >= 0 && w->n_heap > 0) {
		uint32_t number;

		if (w->n_new == 0 && slop-- == 0)
			break;
		number = heap_pop(w);
		w->nodes[number].flags &= ~(unsigned)WAITS;
		w->n_new -= !(w->nodes[number].flags & OLD);
		r = visit(w, number);
	}
	return r;
}

int ancestry_peel(struct objectstore *store, const struct git_id *from,
		  struct git_id *ret)
{
	struct git_id id = *from;

	for (int i = 0; i < TAGS_MAX; i++) {
		auto_free char *text = NULL;
		struct git_object object = { 0 };
		const char *at;
		int r = objectstore_read(store, &id, OBJECTSTORE_COMMIT_MAX,
					 &object);

		if (r < 0)
			return r;
		text = object.data;
		at = text;
		*ret = id;
		if (object.type != GIT_TAG)
			return object.type == GIT_COMMIT ? 0 : -ENOENT;
		if (!is_id_line(take_line(&at, "object"), &id))
			break;
	}
	return -ENOENT;
}

static int begin(struct walk *w, const struct git_id *ids, size_t n,
		 bool is_old)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++) {
		struct git_id id;
		int64_t number;

		r = ancestry_peel(w->store, &ids[i], &id);
		if (r == -ENOENT && is_old) {
			r = 0;
			continue;
		}
		/* A commit that is missing is told. */
		if (r == -ENOENT)
			id = ids[i];
		else if (r < 0)
			break;
		number = node_of(w, &id);
		r = number < 0 ? (int)number : 0;
		if (r >= 0 && is_old)
			r = mark_old(w, (uint32_t)number);
		else if (r >= 0 && !(w->nodes[number].flags & QUEUED))
			w->nodes[number].tip = i;
		if (r >= 0)
			r = queue(w, number);
	}
	return r;
}

static bool is_told(const struct walk *w, uint32_t number)
{
	return (w->nodes[number].flags & (OLD | QUEUED)) == QUEUED;
}

/* A commit is told when all of its children were. */
static int tell(struct walk *w, struct ancestry *ret)
{
	w->n_heap = 0;
	for (uint32_t i = 0; i < w->n; i++)
		for (size_t k = 0; is_told(w, i) && k < w->nodes[i].n_parents;
		     k++)
			w->nodes[w->edges[w->nodes[i].parents + k]]
				.n_children++;
	for (uint32_t i = 0; i < w->n; i++)
		if (is_told(w, i) && w->nodes[i].n_children == 0 &&
		    heap_push(w, i) < 0)
			return -ENOMEM;
	while (w->n_heap > 0) {
		const struct node *node = &w->nodes[heap_pop(w)];

		if (grow(ret->items, ret->n) < 0)
			return -ENOMEM;
		ret->items[ret->n++] = (struct ancestry_item){
			.id = node->id,
			.is_missing = node->flags & MISSING,
			.tip = node->tip,
		};
		for (size_t k = 0; k < node->n_parents; k++) {
			uint32_t parent = w->edges[node->parents + k];

			if (--w->nodes[parent].n_children == 0 &&
			    is_told(w, parent) && heap_push(w, parent) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

int ancestry_find(struct objectstore *store, const struct git_id *new,
		  size_t n_new, const struct git_id *old, size_t n_old,
		  struct ancestry *ret_ancestry)
{
	struct walk w = { .store = store };
	int r;

	*ret_ancestry = (struct ancestry){ 0 };
	w.slots = calloc(SLOTS, sizeof(*w.slots));
	r = w.slots ? sys_random(&w.key, sizeof(w.key)) : -ENOMEM;
	if (r >= 0)
		r = begin(&w, old, n_old, true);
	if (r >= 0)
		r = begin(&w, new, n_new, false);
	if (r >= 0)
		r = run(&w);
	if (r >= 0)
		r = tell(&w, ret_ancestry);
	free(w.slots);
	free(w.nodes);
	free(w.edges);
	free(w.heap);
	return r < 0 ? r : 0;
}

void ancestry_done(struct ancestry *ancestry)
{
	free(ancestry->items);
	*ancestry = (struct ancestry){ 0 };
}
