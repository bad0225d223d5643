/* Tangents of a motion in three directions, in tolerances: between shared_search.c and shared_tangents.c. */
#ifndef KFI_FIT_SHARED_TANGENTS_H
#define KFI_FIT_SHARED_TANGENTS_H

#include "curve.h"

void kfi_scaled(const double from[3], double by, double to[3]);
/* What an end key's tangent is without tension; `beside` is its neighbour's toward it. Of a mirrored neighbour continuity and
 * bias leave 1 + C B at the start and 1 - C B at the end. */
void kfi_end_tangent(bool mirrored, kf_tcb tcb, double sign, const double rise[3], const double beside[3], double level[3]);
/* The tension for a tangent that is `level` without it: that which it had, while it is off by so little that nobody sees it. */
float kfi_tension_for(const double level[3], const double wanted[3], float was);
/* Whether a tangent is so far from the one wanted that the segment cannot fit: it is off by 4/27 of that, and by a tenth
 * if its other end makes up for it. */
bool kfi_hopeless(const double is[3], const double wanted[3], double stress, double most);

#endif
