/* What the files of the Windows part share. */
#ifndef CLI_SYSTEM_WINDOWS_H
#define CLI_SYSTEM_WINDOWS_H

#include <stddef.h>

/* UTF-8 to UTF-16 and back; to be freed. */
wchar_t *wide(const char *text);
char *narrow(const wchar_t *text);

#endif
