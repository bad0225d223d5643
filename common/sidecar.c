#include "fbx/capsule.h"
#include "format.h"

bool kf_sidecar_digest(kf_job *job, const kf_file *sidecar, char digest[9], kf_error *error)
{
    kfi_enter(job);
    kfi_allow_input(job, sidecar, 1);
    job->file = sidecar->name;
    if (!kfi_capsule_digest_packed(job, sidecar->data, sidecar->size, digest) && job->error.code != KF_NO_MEMORY &&
        job->error.code != KF_MEMORY_LIMIT) {
        kfi_capsule capsule;
        job->error = (kf_error){.offset = KF_NO_OFFSET};
        if (kfi_capsule_unpack(job, sidecar->data, sidecar->size, &capsule))
            kfi_capsule_digest(&capsule, digest);
    }
    return kfi_leave(job, error);
}
