#include "helper_library.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static kf_library *library;

int library_set_up(void **state)
{
    (void)state;
    library = kf_library_new(NULL, NULL);
    return library ? 0 : -1;
}

int library_tear_down(void **state)
{
    (void)state;
    kf_library_free(library);
    return 0;
}

kf_job *library_job(const kf_options *options)
{
    kf_job *job = kf_job_new(library, options, NULL);
    assert_non_null(job);
    return job;
}

const kf_format *library_format(const char *id)
{
    const kf_format *format = kf_library_find(library, id);
    assert_non_null(format);
    return format;
}
