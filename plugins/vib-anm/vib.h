/* What importer and exporter of Vib-Ribbon animations share. */
#ifndef VIB_H
#define VIB_H

#include "anim.h"
#include "formats/vib_anm.h"

#define VIB_DEFAULT_RATE 30.0

/* kf_anim.native: the files, one after the other in one take. */
typedef struct vib_native {
    kfi_vib_anm *files;
    size_t count;
    size_t *start; /* count + 1: the take's frame with which each file begins, and behind the last */
    uint8_t object_of[KFI_VIB_OBJECTS]; /* of each node */
} vib_native;

/* What a frame says of an object. */
typedef struct vib_seen {
    bool drawn;
    const int16_t *part[KFI_VIB_PARTS]; /* NULL: not stored */
} vib_seen;

/* Should a frame have an object twice, what is stored later counts. */
vib_seen vib_see(const kfi_vib_anm *anm, size_t frame, unsigned object);

/* The channel that a part becomes. */
kf_channel vib_channel(kfi_vib_part part);
/* A stored integer as degrees, factor or units. All are exact in 32-bit floats. */
double vib_value(kfi_vib_part part, int16_t stored);
/* The other way, to the nearest. Angles beyond the range lose full turns; others are clamped, and `clamped`
 * says so. */
int16_t vib_stored(kfi_vib_part part, double value, bool *clamped);

bool vib_import(kf_import_job *in, kf_anim *anim);
bool vib_export(kf_export_job *out);

#endif
