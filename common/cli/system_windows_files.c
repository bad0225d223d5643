#include "system.h"

#ifdef _WIN32

#include "cli.h"
#include "system_windows.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The reason of the last failure, for errno. Always false. */
static bool failed(void)
{
    switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_PATHNAME:
    case ERROR_INVALID_NAME: errno = ENOENT; break;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_WRITE_PROTECT: errno = EACCES; break;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: errno = EEXIST; break;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL: errno = ENOSPC; break;
    case ERROR_DIRECTORY: errno = ENOTDIR; break;
    case ERROR_FILENAME_EXCED_RANGE: errno = ENAMETOOLONG; break;
    default: errno = EIO;
    }
    return false;
}

static bool told(HANDLE file, file_about *about)
{
    BY_HANDLE_FILE_INFORMATION info;
    *about = (file_about){.kind = KIND_OTHER};
    if (GetFileType(file) != FILE_TYPE_DISK)
        return true;
    if (!GetFileInformationByHandle(file, &info))
        return failed();
    about->kind = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? KIND_FOLDER : KIND_FILE;
    about->device = info.dwVolumeSerialNumber;
    about->inode = (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow;
    about->size = (uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow;
    /* Tenths of microseconds since 1601. */
    uint64_t written = (uint64_t)info.ftLastWriteTime.dwHighDateTime << 32 | info.ftLastWriteTime.dwLowDateTime;
    about->modified = (double)written * 1e-7 - 11644473600.0;
    return true;
}

/* Others may read, rename and delete it meanwhile, as they may elsewhere. */
static HANDLE open_handle(const char *path, DWORD access, DWORD how, DWORD flags)
{
    wchar_t *name = wide(path);
    HANDLE file = CreateFileW(name, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, how,
                              flags | FILE_ATTRIBUTE_NORMAL, NULL);
    free(name);
    if (file == INVALID_HANDLE_VALUE)
        failed();
    return file;
}

bool look_at(const char *path, file_about *about)
{
    HANDLE file = open_handle(path, FILE_READ_ATTRIBUTES, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    if (file == INVALID_HANDLE_VALUE)
        return false;
    bool ok = told(file, about);
    CloseHandle(file);
    return ok;
}

bool look_at_link(const char *path, file_about *about)
{
    wchar_t *name = wide(path);
    DWORD attributes = GetFileAttributesW(name);
    free(name);
    if (attributes == INVALID_FILE_ATTRIBUTES)
        return failed();
    if (!(attributes & FILE_ATTRIBUTE_REPARSE_POINT))
        return look_at(path, about);
    *about = (file_about){.kind = KIND_LINK};
    return true;
}

bool look_at_open(int file, file_about *about)
{
    return told((HANDLE)_get_osfhandle(file), about);
}

static int opened(HANDLE handle, int flags)
{
    if (handle == INVALID_HANDLE_VALUE)
        return -1;
    int file = _open_osfhandle((intptr_t)handle, flags | _O_BINARY | _O_NOINHERIT);
    if (file < 0)
        CloseHandle(handle);
    return file;
}

int open_to_read(const char *path)
{
    if (is_folder(path)) {
        errno = EISDIR;
        return -1;
    }
    return opened(open_handle(path, GENERIC_READ, OPEN_EXISTING, FILE_FLAG_SEQUENTIAL_SCAN), _O_RDONLY);
}

int open_to_write(const char *path)
{
    return opened(open_handle(path, GENERIC_WRITE, OPEN_EXISTING, 0), _O_WRONLY);
}

int create_to_write(const char *path)
{
    return opened(open_handle(path, GENERIC_READ | GENERIC_WRITE, CREATE_NEW, 0), _O_RDWR);
}

ptrdiff_t read_some(int file, void *data, size_t size)
{
    return _read(file, data, size < INT_MAX ? (unsigned)size : INT_MAX);
}

bool write_all(int file, const void *data, size_t size)
{
    const char *from = data;
    while (size > 0) {
        int done = _write(file, from, size < INT_MAX ? (unsigned)size : INT_MAX);
        if (done <= 0)
            return false;
        from += done;
        size -= (size_t)done;
    }
    return true;
}

bool write_all_at(int file, const void *data, size_t size, uint64_t at)
{
    __int64 end = _lseeki64(file, 0, SEEK_CUR);
    bool ok = end >= 0 && _lseeki64(file, (__int64)at, SEEK_SET) >= 0 && write_all(file, data, size);
    return end >= 0 && _lseeki64(file, end, SEEK_SET) >= 0 && ok;
}

bool close_file(int file)
{
    return _close(file) == 0;
}

void keep_mode(int file, const file_about *about)
{
    (void)file; /* a new file has its folder's rules */
    (void)about;
}

bool sync_file(int file)
{
    return _commit(file) == 0;
}

void sync_folder_of(const char *path)
{
    (void)path; /* rename_file waits for the disk */
}

void sync_everything(void)
{
}

bool rename_file(const char *from, const char *to, bool replace)
{
    wchar_t *old_name = wide(from), *new_name = wide(to);
    DWORD how = MOVEFILE_WRITE_THROUGH | (replace ? MOVEFILE_REPLACE_EXISTING : 0);
    bool ok = MoveFileExW(old_name, new_name, how) || failed();
    free(old_name);
    free(new_name);
    return ok;
}

bool remove_file(const char *path)
{
    wchar_t *name = wide(path);
    bool ok = DeleteFileW(name) || failed();
    free(name);
    return ok;
}

char *follow_links(const char *path)
{
    return copy_text(path);
}

bool make_folder(const char *path)
{
    wchar_t *name = wide(path);
    bool ok = CreateDirectoryW(name, NULL) || failed();
    free(name);
    return ok;
}

bool may_write_in(const char *folder)
{
    (void)folder; /* only trying would tell */
    return true;
}

bool each_name(const char *folder, void (*take)(void *user, const char *name), void *user)
{
    char *pattern = join_path(folder, "*");
    wchar_t *name = wide(pattern);
    free(pattern);
    WIN32_FIND_DATAW item;
    HANDLE search = FindFirstFileW(name, &item);
    free(name);
    if (search == INVALID_HANDLE_VALUE)
        return failed();
    do {
        char *found = narrow(item.cFileName);
        take(user, found);
        free(found);
    } while (FindNextFileW(search, &item));
    FindClose(search);
    return true;
}

/* There is no stream into memory: a file that the system keeps in memory if it can, and drops when it is closed. */
void memory_open(memory_stream *stream)
{
    wchar_t folder[MAX_PATH + 1], name[MAX_PATH + 1];
    *stream = (memory_stream){0};
    if (GetTempPathW(MAX_PATH, folder) && GetTempFileNameW(folder, L"kf", 0, name))
        stream->file = _wfopen(name, L"w+bTD");
    need(stream->file);
}

void memory_close(memory_stream *stream)
{
    fflush(stream->file);
    __int64 size = _ftelli64(stream->file);
    stream->size = size > 0 ? (size_t)size : 0;
    stream->data = need(malloc(stream->size + 1));
    rewind(stream->file);
    stream->size = fread(stream->data, 1, stream->size, stream->file);
    stream->data[stream->size] = '\0';
    fclose(stream->file);
}

#endif
