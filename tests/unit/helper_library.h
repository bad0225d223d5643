/* One library for all tests of a program, and jobs of it. */
#ifndef HELPER_LIBRARY_H
#define HELPER_LIBRARY_H

#include "keyferry.h"

/* For cmocka_run_group_tests. */
int library_set_up(void **state);
int library_tear_down(void **state);

/* Each fails the test if it cannot; the job is the caller's to free. */
kf_job *library_job(const kf_options *options);
const kf_format *library_format(const char *id);

#endif
