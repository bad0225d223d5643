#include "system.h"

#ifndef _WIN32

#include "cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---------------------------------------------------------------- the program */

void system_start(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
#ifdef __GLIBC__
    /* Every file of a batch takes a MB or two and gives it back: it is kept for the next one, as giving it to the system
     * makes the other threads wait. */
    mallopt(M_TRIM_THRESHOLD, 64 * 1024 * 1024);
    mallopt(M_MMAP_THRESHOLD, 8 * 1024 * 1024);
#endif
}

unsigned processors(void)
{
    long found = sysconf(_SC_NPROCESSORS_ONLN);
    return found < 1 ? 1 : found > 256 ? 256 : (unsigned)found;
}

double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

bool is_terminal(int stream)
{
    return isatty(stream);
}

size_t terminal_columns(void)
{
#ifdef TIOCGWINSZ
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
#endif
    return 80;
}

/* ---------------------------------------------------------------- files and folders */

static bool told(int failed, const struct stat *from, file_about *about)
{
    if (failed)
        return false;
    about->kind = S_ISREG(from->st_mode)   ? KIND_FILE
                  : S_ISDIR(from->st_mode) ? KIND_FOLDER
                  : S_ISLNK(from->st_mode) ? KIND_LINK
                                           : KIND_OTHER;
    about->device = (uint64_t)from->st_dev;
    about->inode = (uint64_t)from->st_ino;
    about->size = (uint64_t)from->st_size;
    about->modified = (double)from->st_mtim.tv_sec + (double)from->st_mtim.tv_nsec * 1e-9;
    about->mode = (unsigned)from->st_mode & 07777;
    return true;
}

bool look_at(const char *path, file_about *about)
{
    struct stat found;
    return told(stat(path, &found), &found, about);
}

bool look_at_link(const char *path, file_about *about)
{
    struct stat found;
    return told(lstat(path, &found), &found, about);
}

bool look_at_open(int file, file_about *about)
{
    struct stat found;
    return told(fstat(file, &found), &found, about);
}

int open_to_read(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC);
}

int open_to_write(const char *path)
{
    return open(path, O_WRONLY | O_CLOEXEC);
}

int create_to_write(const char *path)
{
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

ptrdiff_t read_some(int file, void *data, size_t size)
{
    ssize_t got;
    do
        got = read(file, data, size < INT_MAX ? size : INT_MAX);
    while (got < 0 && errno == EINTR);
    return got;
}

bool write_all(int file, const void *data, size_t size)
{
    const char *from = data;
    while (size > 0) {
        ssize_t done = write(file, from, size < INT_MAX ? size : INT_MAX);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        from += done;
        size -= (size_t)done;
    }
    return true;
}

bool write_all_at(int file, const void *data, size_t size, uint64_t at)
{
    const char *from = data;
    while (size > 0) {
        ssize_t done = pwrite(file, from, size, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        from += done;
        at += (uint64_t)done;
        size -= (size_t)done;
    }
    return true;
}

bool close_file(int file)
{
    return close(file) == 0;
}

void keep_mode(int file, const file_about *about)
{
    if (fchmod(file, about->mode) != 0)
        errno = 0;
}

bool sync_file(int file)
{
    return fsync(file) == 0;
}

void sync_folder_of(const char *path)
{
    char *folder = copy_text(path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    int file = open_to_read(slash ? folder : ".");
    if (file >= 0) {
        fsync(file);
        close(file);
    }
    free(folder);
}

void sync_everything(void)
{
    sync();
}

/* Where nothing may be replaced a link does it: it fails if the name has been taken since it was looked at.
 * Not every file system has links. */
bool rename_file(const char *from, const char *to, bool replace)
{
    if (!replace) {
        if (link(from, to) == 0) {
            if (unlink(from) == 0)
                return true;
            int reason = errno;
            unlink(to); /* the one with two names goes as a whole */
            errno = reason;
            return false;
        }
        if (errno == EEXIST || access(to, F_OK) == 0) {
            errno = EEXIST;
            return false;
        }
    }
    return rename(from, to) == 0;
}

bool remove_file(const char *path)
{
    return unlink(path) == 0;
}

char *follow_links(const char *path)
{
    char *at = copy_text(path);
    for (int i = 0; i < 40; i++) {
        char target[PATH_MAX];
        ssize_t size = readlink(at, target, sizeof target - 1);
        if (size <= 0)
            break;
        target[size] = '\0';
        char *next;
        if (target[0] == '/') {
            next = copy_text(target);
        } else {
            at[base_name(at) - at] = '\0';
            next = at[0] ? join_path(at, target) : copy_text(target);
        }
        free(at);
        at = next;
    }
    return at;
}

bool make_folder(const char *path)
{
    return mkdir(path, 0777) == 0;
}

bool may_write_in(const char *folder)
{
    return access(folder, W_OK | X_OK) == 0;
}

bool each_name(const char *folder, void (*take)(void *user, const char *name), void *user)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return false;
    for (struct dirent *item = readdir(dir); item; item = readdir(dir))
        take(user, item->d_name);
    closedir(dir);
    return true;
}

void memory_open(memory_stream *stream)
{
    stream->file = need(open_memstream(&stream->data, &stream->size));
}

void memory_close(memory_stream *stream)
{
    fclose(stream->file);
}

/* ---------------------------------------------------------------- signals */

static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNAL_COUNT = sizeof SIGNALS / sizeof *SIGNALS };

static void all_signals(sigset_t *set)
{
    sigemptyset(set);
    for (int i = 0; i < SIGNAL_COUNT; i++)
        sigaddset(set, SIGNALS[i]);
}

void on_end_asked(void (*handler)(int number))
{
    struct sigaction action = {0};
    all_signals(&action.sa_mask);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        struct sigaction before;
        /* What was ignored from outside (nohup) stays ignored. */
        if (sigaction(SIGNALS[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(SIGNALS[i], &action, NULL);
    }
    /* A closed pipe and a file too large are failed writes, with a reason. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

void end_by_signal(int number)
{ /* GCOVR_EXCL_START: nothing is counted any more */
    signal(number, SIG_DFL);
    raise(number);
} /* GCOVR_EXCL_STOP */

void hold_signals(held_signals *before)
{
    sigset_t set;
    all_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, before);
}

void release_signals(const held_signals *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

void leave_signals_to_others(void)
{
    sigset_t before;
    hold_signals(&before);
}

long process_number(void)
{
    return (long)getpid();
}

/* ---------------------------------------------------------------- threads */

void lock_make(lock *l)
{
    pthread_mutex_init(l, NULL);
}

void lock_free(lock *l)
{
    pthread_mutex_destroy(l);
}

void lock_take(lock *l)
{
    pthread_mutex_lock(l);
}

void lock_give(lock *l)
{
    pthread_mutex_unlock(l);
}

void condition_make(condition *c)
{
    pthread_cond_init(c, NULL);
}

void condition_free(condition *c)
{
    pthread_cond_destroy(c);
}

void condition_tell(condition *c)
{
    pthread_cond_signal(c);
}

void condition_wait(condition *c, lock *l, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(seconds * 1e9); /* less than a second */
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(c, l, &until);
}

typedef struct start {
    void (*run)(void *user);
    void *user;
} start;

static void *run_thread(void *what)
{
    start s = *(start *)what;
    free(what);
    s.run(s.user);
    return NULL;
}

bool thread_start(thread *t, void (*run)(void *user), void *user)
{
    start *s = need(malloc(sizeof *s));
    *s = (start){run, user};
    if (pthread_create(t, NULL, run_thread, s) == 0)
        return true;
    free(s);
    return false;
}

void thread_join(thread t)
{
    pthread_join(t, NULL);
}

#endif
