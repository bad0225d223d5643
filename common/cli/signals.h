/* Temporary files, and what a signal does to them. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* A temporary file beside the file it will become. */
typedef struct temporary {
    struct temporary *next, *previous;
    char *path;
} temporary;

/* NULL with errno on failure. */
temporary *make_temporary(const char *beside, int *fd);
void remove_temporary(temporary *temp); /* the file too */
void forget_temporary(temporary *temp); /* the file has another name now */

/* No signal comes through in between. */
void hold_signals(sigset_t *before);
void release_signals(const sigset_t *before);

#endif
