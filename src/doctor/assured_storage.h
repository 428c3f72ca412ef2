/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HB_DOCTOR_ASSURED_STORAGE_H
#define HB_DOCTOR_ASSURED_STORAGE_H

#include "doctor/assured.h"

/* Tells the same of the file system that `dir` lies on, and of the sessions. */
void assured_storage(const char *dir, char *const *envp, assured_fn tell,
		     void *context);

#endif
