#include "system.h"

#ifdef _WIN32

#include "cli.h"
#include "system_windows.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <shellapi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- text */

wchar_t *wide(const char *text)
{
    int size = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0);
    wchar_t *result = need(malloc(((size_t)size + 1) * sizeof *result));
    result[0] = 0;
    MultiByteToWideChar(CP_UTF8, 0, text, -1, result, size);
    return result;
}

char *narrow(const wchar_t *text)
{
    int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *result = need(malloc((size_t)size + 1));
    result[0] = '\0';
    WideCharToMultiByte(CP_UTF8, 0, text, -1, result, size, NULL, NULL);
    return result;
}

/* ---------------------------------------------------------------- the program */

typedef struct arguments {
    char **list;
    size_t count;
} arguments;

static void add_argument(arguments *to, char *text)
{
    to->list = need(realloc(to->list, (to->count + 2) * sizeof *to->list));
    to->list[to->count++] = text;
    to->list[to->count] = NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The shell leaves it to the program what *.ani means. A pattern that fits nothing stays as it is. */
static bool add_matches(arguments *to, const char *pattern)
{
    const char *last = base_name(pattern);
    if (pattern[0] == '-' || !strpbrk(last, "*?"))
        return false;
    wchar_t *name = wide(pattern);
    WIN32_FIND_DATAW item;
    HANDLE search = FindFirstFileW(name, &item);
    free(name);
    if (search == INVALID_HANDLE_VALUE)
        return false;
    size_t first = to->count;
    do {
        char *found = narrow(item.cFileName);
        if (found[0] != '.') {
            char *folder = copy_text(pattern);
            folder[last - pattern] = '\0';
            add_argument(to, folder[0] ? join_path(folder, found) : copy_text(found));
            free(folder);
        }
        free(found);
    } while (FindNextFileW(search, &item));
    FindClose(search);
    if (to->count > first)
        qsort(to->list + first, to->count - first, sizeof *to->list, by_text);
    return to->count > first;
}

void system_start(int *argc, char ***argv)
{
    _setmode(STANDARD_INPUT, _O_BINARY);
    _setmode(STANDARD_OUTPUT, _O_BINARY);
    SetConsoleOutputCP(CP_UTF8);
    HANDLE console = GetStdHandle(STD_ERROR_HANDLE);
    DWORD mode;
    if (GetConsoleMode(console, &mode))
        SetConsoleMode(console, mode | 0x0004 /* the sequences that wipe out the progress bar */);
    int count = 0;
    wchar_t **words = CommandLineToArgvW(GetCommandLineW(), &count);
    arguments all = {0};
    for (int i = 0; words && i < count; i++) {
        char *text = narrow(words[i]);
        for (char *c = text; *c; c++)
            if (*c == '\\')
                *c = '/'; /* no option wants one, and every path may be written so */
        if (i > 0 && add_matches(&all, text))
            free(text);
        else
            add_argument(&all, text);
    }
    LocalFree(words);
    if (all.count > 0) {
        *argc = (int)all.count;
        *argv = all.list; /* lives as long as the program */
    }
}

unsigned processors(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    DWORD found = info.dwNumberOfProcessors;
    return found < 1 ? 1 : found > 256 ? 256 : (unsigned)found;
}

double seconds_now(void)
{
    LARGE_INTEGER now, rate;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&rate);
    return (double)now.QuadPart / (double)rate.QuadPart;
}

bool is_terminal(int stream)
{
    return _isatty(stream) != 0;
}

size_t terminal_columns(void)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    if (GetConsoleScreenBufferInfo(GetStdHandle(STD_ERROR_HANDLE), &info) && info.dwSize.X > 0)
        return (size_t)info.dwSize.X;
    return 80;
}

/* ---------------------------------------------------------------- signals */

/* The console asks in a thread of its own, which waits where a signal would be held back. */
static CRITICAL_SECTION asking;
static void (*end_handler)(int number);

static BOOL WINAPI console_asks(DWORD event)
{
    EnterCriticalSection(&asking);
    end_handler(event == CTRL_C_EVENT ? SIGINT : SIGTERM);
    LeaveCriticalSection(&asking);
    return TRUE;
}

void on_end_asked(void (*handler)(int number))
{
    InitializeCriticalSection(&asking);
    end_handler = handler;
    SetConsoleCtrlHandler(console_asks, TRUE);
}

void end_by_signal(int number)
{
    (void)number;
    TerminateProcess(GetCurrentProcess(), 0xC000013Au); /* what Ctrl-C gives */
}

void hold_signals(held_signals *before)
{
    *before = 0;
    EnterCriticalSection(&asking);
}

void release_signals(const held_signals *before)
{
    (void)before;
    LeaveCriticalSection(&asking);
}

void leave_signals_to_others(void)
{
}

long process_number(void)
{
    return (long)_getpid();
}

/* ---------------------------------------------------------------- threads */

void lock_make(lock *l)
{
    InitializeSRWLock((PSRWLOCK)l);
}

void lock_free(lock *l)
{
    (void)l;
}

void lock_take(lock *l)
{
    AcquireSRWLockExclusive((PSRWLOCK)l);
}

void lock_give(lock *l)
{
    ReleaseSRWLockExclusive((PSRWLOCK)l);
}

void condition_make(condition *c)
{
    InitializeConditionVariable((PCONDITION_VARIABLE)c);
}

void condition_free(condition *c)
{
    (void)c;
}

void condition_tell(condition *c)
{
    WakeConditionVariable((PCONDITION_VARIABLE)c);
}

void condition_wait(condition *c, lock *l, double seconds)
{
    SleepConditionVariableSRW((PCONDITION_VARIABLE)c, (PSRWLOCK)l, (DWORD)(seconds * 1000), 0);
}

typedef struct start {
    void (*run)(void *user);
    void *user;
} start;

static unsigned __stdcall run_thread(void *what)
{
    start s = *(start *)what;
    free(what);
    s.run(s.user);
    return 0;
}

bool thread_start(thread *t, void (*run)(void *user), void *user)
{
    start *s = need(malloc(sizeof *s));
    *s = (start){run, user};
    *t = (thread)_beginthreadex(NULL, 0, run_thread, s, 0, NULL);
    if (!*t)
        free(s);
    return *t != NULL;
}

void thread_join(thread t)
{
    WaitForSingleObject(t, INFINITE);
    CloseHandle(t);
}

#endif
