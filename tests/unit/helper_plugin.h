/* Trying a format's importer and exporter without FBX between them: bytes in, an edited copy, bytes out. */
#ifndef HELPER_PLUGIN_H
#define HELPER_PLUGIN_H

#include "format.h"

typedef struct plugin_test {
    const kf_format *format;
    kf_library *library;
    kf_job *job;
    kf_file *files; /* the original */
    size_t count;
    const kf_anim *original;
    kf_anim *edited; /* its tracks can be written on */
} plugin_test;

/* A job with a memory of its own. Fails the test if it cannot. */
void plugin_open(plugin_test *test, const kf_format *format, bool strict);
void plugin_close(plugin_test *test);

/* Imports the files and makes `edited`: every track CHANGED, every key its own unchanged origin. */
void plugin_load(plugin_test *test, const kf_file *files, size_t count);
/* The same of one file called "part.x". */
void plugin_load_one(plugin_test *test, const void *data, size_t size);

/* Exports `edited`, with the original or without; returns whether that went well. */
bool plugin_export(plugin_test *test, bool with_original);
/* An emitted file. Fails the test if there are not so many. */
const kfi_emitted *plugin_output(const plugin_test *test, size_t i);
/* How many bytes of the output differ from the original's file i; SIZE_MAX if it is of another size. */
size_t plugin_changed_bytes(const plugin_test *test, size_t i);

/* A track of the first take of `edited`. Fails the test if there is none. */
kf_track *plugin_track(const plugin_test *test, uint32_t node, kf_channel channel);
/* Says on key i that something changed. */
void plugin_change(kf_curve *curve, size_t i, uint32_t changed);
void plugin_change_quat(kf_quat_curve *curve, size_t i, uint32_t changed);
/* Puts a new key before key i, or takes key i out. */
void plugin_insert(plugin_test *test, kf_curve *curve, size_t i, kf_key key);
void plugin_remove(kf_curve *curve, size_t i);

#endif
