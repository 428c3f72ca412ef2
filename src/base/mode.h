/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_BASE_MODE_H
#define HB_BASE_MODE_H

/* What a mode lets its owner do; of a directory unless a file is named. */
#define USER_READ   0400 /* also a file */
#define USER_WRITE  0200 /* also a file */
#define USER_EDIT   0600 /* a file: read it and write it */
#define USER_LIST   0500 /* list its names and reach what they stand for */
#define USER_CHANGE 0300 /* add names and remove them */
#define USER_ALL    0700

#endif
