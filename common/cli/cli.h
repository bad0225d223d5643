/* The keyferry command: what its files share. Everything goes through keyferry.h. */
#ifndef CLI_H
#define CLI_H

#include "keyferry.h"

#include <stdio.h>

/* Exit codes, relied on by scripts. */
enum {
    EXIT_DONE = 0,
    EXIT_BAD = 1,   /* the input is bad, differs, or cannot be expressed */
    EXIT_USAGE = 2, /* wrong usage */
    EXIT_FILES = 3  /* could not read or write */
};

typedef struct verb verb;
struct file_about;

typedef struct cli {
    const verb *verb;
    const char **operands;
    size_t operand_count;
    kf_options options;
    const char *rig; /* paths */
    const char **bases;
    size_t base_count;
    unsigned jobs; /* 0: as many as there are processors */
    bool json, dry_run, newer, yes, never, commands, help;
    const char *program; /* what it was called as */
    const char **given;  /* the words of the options that a plan's commands repeat */
    size_t given_count;
    kf_library *library;
} cli;

struct verb {
    const char *name;
    int (*run)(cli *c);
    const char *options; /* the names it takes, a space before and behind each */
    const char *help;    /* how to use it, with examples */
};

extern const verb VERBS[]; /* ends with a name of NULL */

int run_convert(cli *c);
int run_verify(cli *c);
int run_info(cli *c);
int run_dump(cli *c);
int run_diff(cli *c);
int run_explain(cli *c);
int run_check(cli *c);
int run_plan(cli *c);
int run_formats(cli *c);

/* ---- options.c: false after telling what is wrong */
bool parse_options(cli *c, int argc, char **argv);
/* Of a list of words with spaces between them, the one nearest to `word`, copied to `found`; false if none is
 * near. */
bool nearest_word(const char *word, const char *list, char found[32]);
/* Whether --from and --to name formats that there are. */
bool check_formats(const cli *c);

/* ---- report.c */
/* "keyferry: " and the sentence on stderr; control characters are made harmless. */
#if defined(__GNUC__) && !defined(__MINGW32__) /* where "printf" means another one */
__attribute__((format(printf, 2, 3)))
#endif
void say(FILE *to, const char *format, ...);
/* Text from files, control characters made harmless. */
void put_safe(FILE *to, const char *text);
/* An error, or notes and warnings, of the library, with the path instead of the name where it is one of these
 * files'. */
typedef struct input input;
void say_error(FILE *to, const kf_error *error, const input *inputs, size_t count, const char *otherwise);
void say_messages(FILE *to, const kf_job *job, kf_level least, const input *inputs, size_t count,
                  const char *otherwise);
/* What kf_check found, without "keyferry: "; returns how many. */
size_t print_problems(FILE *to, const kf_job *job, const char *path);
int exit_code_of(kf_code code);
int worse(int a, int b); /* of two exit codes, the one to report */

void json_text(FILE *to, const char *text);
void json_number(FILE *to, double value);
void json_messages(FILE *to, const kf_job *job);  /* "messages":[...] */
void json_error(FILE *to, const kf_error *error); /* "error":null or {...} */

/* ---- files.c: reading */
struct input {
    char *path;
    char *name; /* without folders, but of FBX files that would be called alike; "stdin" for "-" */
    void *data;
    size_t size;
    bool regular;
    uint64_t device, inode; /* of a regular file */
    double modified;        /* seconds */
};

/* Reads the whole file. False after telling why. */
bool read_input(const char *path, input *in, FILE *err);
/* Only what the file system says of it. */
bool stat_input(const char *path, input *in);
void free_input(input *in);
void free_inputs(input *in, size_t count);
/* The inputs as the library wants them; NULL on failure. To be freed. */
kf_file *files_of(const input *in, size_t count);

bool is_folder(const char *path);
const char *base_name(const char *path);
char *join_path(const char *folder, const char *name);
bool ends_with(const char *name, const char *end);
#define SIDECAR_END ".fbx.kf" /* of what a sidecar of ours is called */
char *sidecar_of(const char *fbx);
void *need(void *memory); /* ends the program when memory ran out */
void *file_memory(size_t size); /* memory.c: as malloc's; needed */
/* The same where the library had none, and no is an answer but for that. */
void need_memory(bool ok, const kf_error *error);
char *copy_text(const char *text);

/* ---- folder.c */
typedef struct path_list {
    char **paths;
    size_t count, capacity;
} path_list;

void list_add(path_list *list, char *path);
void list_free(path_list *list);
/* All files below a folder, in order of their names, hidden ones left out. Paths begin with the folder's.
 * `skip`: a folder not to go into, or NULL. False after telling why. */
bool list_folder(const char *folder, bool deep, const char *skip, path_list *list, FILE *err);
bool make_folders(const char *path, FILE *err);
/* Whether nothing that is no folder stands in the way of that. */
bool could_make_folders(const char *path, FILE *err);

/* ---- output.c: writing by temporary file and rename */
typedef struct output_file output_file;

/* claims.c: which outputs a batch makes, of which of its inputs, which go by their numbers */
typedef struct claims claims;
claims *claims_new(size_t inputs);
void claims_free(claims *c);
/* No output may have that path. */
void claims_reserve(claims *c, const char *path);
bool claims_reserved(claims *c, const char *path);
/* The input has that output. False: nothing was there before the run; else it was `before`, if that is not NULL. */
bool claim(claims *c, const char *path, size_t number, struct file_about *before);
/* The input has that output made. False if another one does: then it is not to be written. */
bool claim_writing(claims *c, const char *path, size_t number);
/* The first of the inputs that share outputs with this one, so far as is known; itself if it shares none. */
size_t claims_lead(claims *c, size_t number);
/* Whether it had an output made. */
bool claims_written(claims *c, size_t number);

typedef struct output_rules {
    bool yes, never;
    bool dry;            /* nothing is written: outputs are only begun */
    bool sync;           /* fsync each file and its folder */
    bool ask;            /* a question at the terminal is possible */
    const input *inputs; /* never to be written over */
    size_t input_count;
    claims *claims; /* of the batch; NULL for a single conversion */
    size_t number;  /* the input's in there */
    FILE *err;
} output_rules;

/* Outputs that appear together, or not at all. */
typedef struct output_set {
    output_file *items;
    size_t count, capacity;
    const output_rules *rules;
    int exit_code;    /* why it failed, once it did */
    bool may_replace; /* the answer at the terminal was yes */
    bool existed;     /* it failed because there is a file already */
} output_set;

/* Whether the rules allow writing there; else tells why and sets exit_code. */
bool output_allowed(output_set *set, const char *path);
/* Opens the next output; `path` "-" is standard output. */
bool output_begin(output_set *set, const char *path, kf_sink *sink);
bool output_end(output_set *set, bool ok);
/* All of them get their names, in order. */
bool output_commit(output_set *set);
/* Throws away what was not committed. */
void output_discard(output_set *set);

/* Standard output as a sink that keeps everything to the end; `finish_stdout` tells whether all was written.
 */
bool stdout_append(void *user, const void *data, size_t size);
int finish_stdout(int exit_code);

void catch_signals(void);
/* While on, a signal only sets `stop_asked`, and the work ends where it can. */
void defer_signals(bool on);
bool stop_asked(void);
/* Dies of the signal that was deferred, if there was one. */
void die_of_signal(void);

/* ---- batch.c */
/* Does one of many; prints to `out` and `err`. Returns an exit code, or SKIPPED. */
enum { SKIPPED = -1 };
typedef int batch_work(cli *c, void *user, size_t index, FILE *out, FILE *err);
typedef struct batch_result {
    size_t done, failed, skipped;
    int exit_code;
} batch_result;
/* Whether one that is done, as all before it are, is not to be told of, nor counted. */
typedef bool batch_withdrawn(void *user, size_t index);
/* Runs the work for 0..count-1, in threads if asked for; what it prints comes in order. `withdrawn` may be NULL. */
batch_result run_batch(cli *c, size_t count, char *const *names, batch_work *work, batch_withdrawn *withdrawn, void *user);

/* ---- sidecar.c */
typedef struct sidecar_search {
    cli *c;
    const input *fbx; /* the files that may have one beside them */
    size_t fbx_count;
    input *found; /* those that were handed out: they must live as long as the job */
    size_t found_count;
    FILE *err;
} sidecar_search;
bool find_sidecar(void *user, const char *digest, kf_file *sidecar);

/* ---- load.c: one file of any format, for the verbs that only look */
typedef struct loaded {
    input in;
    kf_job *job;
    const kf_anim *anim;
} loaded;
/* `like`: NULL, or a file by whose name this one goes, but for the extension: some formats name nodes and takes after it. */
int load_file(cli *c, const char *path, const char *like, loaded *result);
void unload_file(loaded *l);
/* Whether a file that no format recognises was likely meant to be one: it has a format's extension. */
bool has_known_extension(const cli *c, const char *name);
/* The operands, folders replaced by the files in them. `from_folder` tells which were named by a folder only.
 */
bool expand_operands(cli *c, path_list *list, bool **from_folder);
/* Whether that is anything but one file that was named: then it is summed up. */
bool is_many(const path_list *list, const bool *from_folder);

#endif
