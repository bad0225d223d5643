/* What the command wants of the operating system: system_posix.c and system_windows*.c.
 *
 * Paths are UTF-8 with '/' between their parts. What fails returns false, NULL or -1 and leaves the reason in errno. */
#ifndef CLI_SYSTEM_H
#define CLI_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifndef _WIN32
#include <pthread.h>
#include <signal.h>
#endif

/* ---- the program */

/* To be called first: the arguments in UTF-8, standard input and output as bytes. */
void system_start(int *argc, char ***argv);
unsigned processors(void);
double seconds_now(void); /* from some moment on, never backwards */

enum { STANDARD_INPUT = 0, STANDARD_OUTPUT = 1, STANDARD_ERROR = 2 };
bool is_terminal(int stream);
size_t terminal_columns(void); /* of standard error */

/* ---- files and folders */

typedef enum file_kind { KIND_FILE, KIND_FOLDER, KIND_LINK, KIND_OTHER } file_kind;

typedef struct file_about {
    file_kind kind;
    uint64_t device, inode; /* the same two are the same file */
    uint64_t size;
    double modified; /* seconds */
    unsigned mode;   /* who may do what with it */
} file_about;

bool look_at(const char *path, file_about *about);      /* links are followed */
bool look_at_link(const char *path, file_about *about); /* links are told of */
bool look_at_open(int file, file_about *about);

int open_to_read(const char *path);
int open_to_write(const char *path);   /* what is there, such as a device */
int create_to_write(const char *path); /* fails with EEXIST if there is something */
ptrdiff_t read_some(int file, void *data, size_t size);
bool write_all(int file, const void *data, size_t size);
bool write_all_at(int file, const void *data, size_t size, uint64_t at);
bool close_file(int file);
void keep_mode(int file, const file_about *about); /* as far as that is possible */

bool sync_file(int file);
void sync_folder_of(const char *path); /* as far as the file system can */
void sync_everything(void);

/* In one step: whoever looks sees the old file or the new one. Without `replace`, EEXIST if there is one. */
bool rename_file(const char *from, const char *to, bool replace);
bool remove_file(const char *path);
char *follow_links(const char *path); /* the file that a path leads to through links; to be freed */

bool make_folder(const char *path);
bool may_write_in(const char *folder); /* as far as the system tells beforehand */
bool each_name(const char *folder, void (*take)(void *user, const char *name), void *user);

/* A stream into memory: whatever was written is in `data` once it is closed; to be freed. */
typedef struct memory_stream {
    FILE *file;
    char *data;
    size_t size;
} memory_stream;
void memory_open(memory_stream *stream);
void memory_close(memory_stream *stream);

/* ---- signals */

/* `handler` is called when the program is asked to end (Ctrl-C, kill); it returns to go on. */
void on_end_asked(void (*handler)(int number));
void end_by_signal(int number);

/* No signal comes through in between. */
#ifdef _WIN32
typedef int held_signals;
#else
typedef sigset_t held_signals;
#endif
void hold_signals(held_signals *before);
void release_signals(const held_signals *before);
void leave_signals_to_others(void); /* for the rest of a thread's life */
long process_number(void);

/* ---- threads */

#ifdef _WIN32
typedef struct lock {
    void *state;
} lock;
typedef struct condition {
    void *state;
} condition;
typedef void *thread;
#define LOCK_MADE {0}
#else
typedef pthread_mutex_t lock;
typedef pthread_cond_t condition;
typedef pthread_t thread;
#define LOCK_MADE PTHREAD_MUTEX_INITIALIZER
#endif

void lock_make(lock *l);
void lock_free(lock *l);
void lock_take(lock *l);
void lock_give(lock *l);
void condition_make(condition *c);
void condition_free(condition *c);
void condition_tell(condition *c);
void condition_wait(condition *c, lock *l, double seconds); /* at most so long */
bool thread_start(thread *t, void (*run)(void *user), void *user);
void thread_join(thread t);

#endif
