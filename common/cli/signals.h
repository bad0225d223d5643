/* Temporary files, and what a signal does to them. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

/* A temporary file beside the file it will become. */
typedef struct temporary {
    struct temporary *next, *previous;
    struct shelf *shelf; /* that it stands on */
    char *path;
} temporary;

/* NULL with errno on failure. */
temporary *make_temporary(const char *beside, int *fd);
void remove_temporary(temporary *temp); /* the file too */
void remove_temporaries(void);          /* all of them, and no more are made: the program is about to end */
void forget_temporary(temporary *temp); /* the file has another name now */
/* Those that a program left in the folder which was ended by force, or by the power: nobody has written to them for an
 * hour, so they are no running program's, wherever it runs. */
void remove_leftovers(char *folder);

#endif
