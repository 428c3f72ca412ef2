/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_POSTGRES_INSPECTION_H
#define HB_POSTGRES_INSPECTION_H

struct hb_error;

/*
 * In a box without any command: brings the picture of the session up to date.
 *
 * The server that the command used can lie about its rows: the command was its
 * superuser, and could load code into it.  So only the bytes of the archive
 * count.  They are restored on a second server that no command has seen, by a
 * role without any rights but its own database.  The picture shows that
 * server's rows.
 */
struct place {
	int dir;	  /* of the server's data */
	const char *path; /* of the same */
	int picture;	  /* of the session */
	const char *picture_path;
	int base;  /* picture of the base, to compare with; -1: none */
	int facts; /* where the facts lie */
	char *const *envp;
};

/* The name of the file that says which archive the data came from. */
#define INSPECTION_FILLED "filled"

/* Of the data in `dir`; they are stopped before and after. */
int inspection_run(const struct place *place, struct hb_error *err);

/* Of the picture's own archive: the first picture. */
int inspection_first(const struct place *place, struct hb_error *err);

#endif
