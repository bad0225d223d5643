/* Curves read frame by frame, for formats that store one value a frame. */
#ifndef KFI_CURVE_FRAMES_H
#define KFI_CURVE_FRAMES_H

#include "rotation.h"

/* Frames at an even rate. */
typedef struct kfi_frames {
    double start; /* time of frame 0 */
    double rate;  /* frames a second */
    size_t count;
} kfi_frames;

/* How many frames a take spans, both ends included. An end halfway to the next frame gets that one, or its pose would be in none. */
double kfi_frames_spanned(const kf_take *take, double rate);
/* The frames themselves; at most `most`, else KF_INEXPRESSIBLE. */
bool kfi_take_frames(kf_job *job, const kf_take *take, double rate, size_t most, kfi_frames *frames);
double kfi_frame_time(const kfi_frames *frames, size_t frame);
/* How many frames the times lie apart, to the nearest one. */
double kfi_frames_between(double from, double to, double rate);

/* One pass over a curve. */
typedef struct kfi_walk {
    const kf_curve *curve;
    double rest; /* where the curve has no keys */
    size_t next; /* the first key after the frame asked for last */
} kfi_walk;

enum { KFI_NO_KEY = -1 };

/* The value at a frame; frames must ascend from call to call. `key` is the key that stands on the frame
 * (within a thousandth of it), of several the nearest, of those at one time the last, or KFI_NO_KEY. */
double kfi_walk_value(kfi_walk *walk, const kfi_frames *frames, size_t frame, ptrdiff_t *key);

/* A rotation track as one key a frame on three curves in another rotation order, or of quaternions. */
bool kfi_rotation_frames(kf_job *job, const kf_track *track, kf_rotation_order from, kf_rotation_order to,
                         const kfi_frames *frames, kf_curve out[3]);

#endif
