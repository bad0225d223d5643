/* The original files of a conversion, packed to travel inside the FBX (as text on the wrapper node) or beside it (as
 * the sidecar file NAME.fbx.kf). One container serves both:
 *
 *   8 bytes "KFERRY1\n", u32 size of what follows unpacked, u32 CRC-32 of it, then zlib data of:
 *     text format id, u32 importer revision, text options, u32 number of files, then for each: text name, u32 size;
 *     then the files' bytes one after the other                                (text: bytes with a NUL)
 *
 * In an FBX the container stands base64-coded. */
#ifndef KFI_FBX_CAPSULE_H
#define KFI_FBX_CAPSULE_H

#include "anim.h"
#include "names.h"

typedef struct kfi_capsule {
    const char *format;
    uint32_t revision;
    const char *options; /* "tcb=native fbx=7500 ..." as kfi_options_text writes them */
    kf_file *files;
    size_t count;
    uint32_t contents; /* CRC-32 of the files' bytes, one after the other; of an unpacked or peeked one */
} kfi_capsule;

enum { KFI_CAPSULE_MAX = 16 * 1024 * 1024, KFI_DIGEST_SIZE = 9 };

/* What an FBX names whose original does not travel. */
#define KFI_NO_DIGEST "00000000"

/* Eight hex digits over format, options, names and bytes: the same wherever the capsule travels. */
void kfi_capsule_digest(const kfi_capsule *capsule, char digest[KFI_DIGEST_SIZE]);
/* The same of a packed one, of which no more than the beginning is unpacked: damage behind that is not seen. False: it
 * takes more than that, as with several files, or is no capsule. */
bool kfi_capsule_digest_packed(kf_job *job, const void *data, size_t size, char digest[KFI_DIGEST_SIZE]);

/* Whether these are the bytes that travelled, whatever their names. */
bool kfi_capsule_holds(const kfi_capsule *capsule, const kf_file *files, size_t count);
/* Whether two hold the same bytes. */
bool kfi_capsule_alike(const kfi_capsule *a, const kfi_capsule *b);
/* What that takes of one, and its files' names, in that job's memory. */
bool kfi_capsule_outline(kf_job *job, const kfi_capsule *capsule, kfi_capsule *outline);
/* Whether a file is a packed one. */
bool kfi_capsule_probe(const void *data, size_t size);

bool kfi_capsule_pack(kf_job *job, const kfi_capsule *capsule, const uint8_t **data, size_t *size);
/* Untrusted bytes: sizes are checked before anything is unpacked, file names lose any folder part. */
bool kfi_capsule_unpack(kf_job *job, const void *data, size_t size, kfi_capsule *capsule);

/* The same but for the files' bytes (their data is NULL), of which nothing is unpacked: damage there is not seen. False
 * also where the beginning does not tell it all. */
bool kfi_capsule_peek(kf_job *job, const void *data, size_t size, kfi_capsule *capsule);

bool kfi_base64_encode(kf_job *job, const void *data, size_t size, const char **text, size_t *length);
/* White space is skipped; anything else that is no base64 is refused. */
bool kfi_base64_decode(kf_job *job, const char *text, size_t length, const uint8_t **data, size_t *size);

#endif
