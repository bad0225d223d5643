#include "fbx/capsule.h"
#include "format.h"

#include <string.h>

bool kf_sidecar_digest(kf_job *job, const kf_file *sidecar, char digest[9], kf_error *error)
{
    kfi_enter(job);
    kfi_allow_input(job, sidecar, 1);
    job->file = sidecar->name;
    char quick[KFI_DIGEST_SIZE];
    bool same = digest[0] && kfi_capsule_digest_packed(job, sidecar->data, sidecar->size, quick) &&
                memcmp(digest, quick, sizeof quick) == 0;
    if (!same && job->error.code != KF_NO_MEMORY && job->error.code != KF_MEMORY_LIMIT) {
        kfi_capsule capsule;
        job->error = (kf_error){.offset = KF_NO_OFFSET};
        if (kfi_capsule_unpack(job, sidecar->data, sidecar->size, &capsule))
            kfi_capsule_digest(&capsule, digest);
    }
    return kfi_leave(job, error);
}
