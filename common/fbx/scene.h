/* Animations as FBX scenes.
 *
 *     animation --lower--> what FBX can hold --write--> bytes --read--> animation
 *
 * `lower` decides everything (names, Euler curves, helper keys, bakes, rounding to FBX's precision) and `write` only
 * writes it down: read(write(x)) = x for every x that lower made or read gave. */
#ifndef KFI_FBX_SCENE_H
#define KFI_FBX_SCENE_H

#include "anim.h"

/* Writes the animation as it is: nodes, takes, layers, tracks, meshes with shapes, properties. Quaternion tracks must
 * have been lowered. Options: ascii, fbx_version. Same input, same bytes. */
bool kfi_fbx_write(kf_job *job, const kf_anim *anim, const kf_sink *sink);

/* True if the bytes begin like an FBX, binary or ASCII. */
bool kfi_fbx_probe(const uint8_t *data, size_t size);

/* Reads an FBX: every take with its layers, raw curves with their attributes. */
bool kfi_fbx_read(kf_job *job, const kf_file *file, kf_anim *anim);

#endif
