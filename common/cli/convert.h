/* One conversion: files that belong together to one output, or to the files of a folder. */
#ifndef CLI_CONVERT_H
#define CLI_CONVERT_H

#include "cli.h"

typedef struct conversion {
    const char *const *inputs;
    size_t count;
    const char *output; /* a file, "-", or a folder */
    bool into_folder;
    bool whole_name; /* in a folder: the input keeps its extension, and the output's comes behind it */
    bool batch;      /* one of many: no questions, no waiting for the disk */
    claims *claims;  /* the batch's, or NULL */
    size_t number;   /* in there */
    bool again;      /* what the run has written may be written over, and it is not stopped */
    path_list *plan; /* not NULL: nothing is written, the outputs' paths are put here */
    FILE *out, *err;
} conversion;

/* A conversion at work. */
typedef struct work {
    cli *c;
    const conversion *v;
    input *inputs, *bases;
    size_t base_count;
    const char *id; /* the inputs' format, or NULL */
    char *name;     /* the output's, without folders */
    bool chosen;    /* else the original's names are taken, if there is one */
    output_rules rules;
    output_set set;
    path_list written, would; /* what was written; what a dry run would have */
    bool reported;
    bool left_alone; /* nothing is done, as the output is up to date, or must stay */
    bool dropped;    /* the output at work is not written: a plan, a dry run, --newer, or another input has it */
    size_t kept;
} work;

/* An exit code; SKIPPED for what a batch leaves alone. */
int convert_files(cli *c, const conversion *v);

/* ---- tree.c: many files, each to its own output */
typedef struct tree {
    path_list files;
    char **folders;   /* where each one's output goes */
    bool *whole_name; /* another file of the folder has the same name but for the extension */
    claims *claims;
} tree;

/* All files below `root`, mirrored below `folder`. False after telling what could not be read; to be freed either way. */
bool tree_of_folder(const cli *c, const char *root, const char *folder, tree *t);
void tree_free(tree *t);
/* The conversion of one of them. */
conversion tree_nth(const tree *t, size_t index, FILE *out, FILE *err);

/* ---- convert_report.c */
void report_conversion(const work *w, const kf_job *job, const kf_summary *s, const kf_error *error, bool ok);
void report_conversion_json(const work *w, const kf_job *job, const kf_summary *s, const kf_error *error,
                            bool ok);
/* The last line that was said, as an error like the library's. */
kf_error last_reason(const char *said, size_t size);

#endif
