#include "helper_curves.h"

#include <math.h>
#include <string.h>

kf_job curve_job;

int curve_set_up(void **state)
{
    (void)state;
    memset(&curve_job, 0, sizeof curve_job);
    kfi_arena_init(&curve_job.arena, (kf_allocator){0}, UINT64_MAX);
    random_seed(1);
    return 0;
}

int curve_tear_down(void **state)
{
    (void)state;
    kfi_arena_free(&curve_job.arena);
    return 0;
}

static uint64_t random_state;

void random_seed(uint64_t seed)
{
    random_state = seed * 0x9e3779b97f4a7c15u + 88172645463325252u;
}

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

double random_between(double low, double high)
{
    return low + (high - low) * (double)(next_random() >> 11) / 9007199254740992.0;
}

unsigned random_below(unsigned count)
{
    return (unsigned)(next_random() >> 33) % count;
}

static uint8_t random_interp(uint32_t interps)
{
    for (;;) {
        unsigned interp = random_below(KF_INTERP_COUNT);
        if (interps & 1u << interp)
            return (uint8_t)interp;
    }
}

static kf_tcb random_tcb(unsigned how)
{
    double most = how & RANDOM_TAME ? 0.5 : 1;
    kf_tcb tcb = {0};
    tcb.tension = (float)random_between(-most, most);
    tcb.continuity = (float)random_between(-most, most);
    tcb.bias = (float)random_between(-most, most);
    if (how & RANDOM_EASE) {
        tcb.ease_in = random_below(2) ? (float)random_between(0, 1) : 0.0f;
        tcb.ease_out = random_below(2) ? (float)random_between(0, 1) : 0.0f;
    }
    return tcb;
}

static double random_after(double time, unsigned how)
{
    if (how & RANDOM_FRAMES)
        return (floor(time * 30.0 + 0.5) + (how & RANDOM_TAME ? 15.0 : 5.0) + random_below(20)) / 30.0;
    return time + random_between(0.05, 1.5);
}

void random_curve(kf_curve *curve, size_t count, uint32_t interps, unsigned how)
{
    *curve = (kf_curve){0};
    kfi_make_keys(&curve_job, curve, count, KFI_HANDLES | (how & RANDOM_TCB ? KFI_NUMBERS : 0));
    double time = how & RANDOM_FRAMES ? 0.0 : random_between(-2, 2);
    for (size_t i = 0; i < count; i++) {
        kf_key *key = &curve->keys[i];
        key->time = time;
        key->value = random_between(-10, 10);
        key->interp = random_interp(interps);
        if (curve->tcb)
            curve->tcb[i] = random_tcb(how);
        time = random_after(time, how);
    }
    for (size_t i = 0; i < count; i++) {
        const kf_key *key = &curve->keys[i];
        kf_handles *handles = &curve->handles[i];
        double before = i > 0 ? key->time - key[-1].time : 1.0,
               after = i + 1 < count ? key[1].time - key->time : 1.0;
        double low = how & RANDOM_WILD_HANDLES ? -0.5 : how & RANDOM_TAME ? 0.2 : 0.05;
        double high = how & RANDOM_WILD_HANDLES ? 1.7 : how & RANDOM_TAME ? 0.5 : 0.95;
        double tall = how & RANDOM_TAME ? 1.5 : 4;
        handles->in = (kf_handle){-before * random_between(low, high), random_between(-tall, tall)};
        handles->out = (kf_handle){after * random_between(low, high), random_between(-tall, tall)};
        if (how & RANDOM_WILD_HANDLES && random_below(4) == 0)
            handles->out.dt = 0.0;
        if (how & RANDOM_WILD_HANDLES && random_below(8) == 0)
            handles->in = (kf_handle){0.0, 0.0};
    }
}

void random_quat_curve(kf_quat_curve *curve, size_t count, uint32_t interps, unsigned how, double widest)
{
    *curve = (kf_quat_curve){0};
    kfi_make_quat_keys(&curve_job, curve, count, how & RANDOM_TCB);
    double time = 0.0, q[4] = {1.0, 0.0, 0.0, 0.0};
    for (size_t i = 0; i < count; i++) {
        kf_quat_key *key = &curve->keys[i];
        double axis[3] = {random_between(-1, 1), random_between(-1, 1), random_between(-1, 1)}, turn[4];
        kfi_quat_from_axis(random_between(0, widest), axis, turn);
        kfi_quat_multiply(turn, q, q);
        kfi_quat_normalize(q);
        memcpy(key->q, q, sizeof q);
        if (random_below(2))
            for (int k = 0; k < 4; k++)
                key->q[k] = -q[k];
        key->time = time;
        key->interp = random_interp(interps);
        if (curve->tcb)
            curve->tcb[i] = random_tcb(how);
        time = random_after(time, how);
    }
}

double curve_range(const kf_curve *curve)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i + 1 < curve->count; i++)
        for (int k = 0; k <= 16; k++) {
            const kf_key *key = &curve->keys[i];
            double value = kfi_curve_value(curve, key->time + (key[1].time - key->time) * k / 16.0, 0.0);
            low = fmin(low, value);
            high = fmax(high, value);
        }
    return high > low ? high - low : 1.0;
}

double worst_between(const kf_curve *a, const kf_curve *b, double *at)
{
    double worst = 0.0;
    *at = 0.0;
    for (size_t i = 0; i + 1 < a->count; i++)
        for (int k = 0; k <= 16; k++) {
            const kf_key *key = &a->keys[i];
            double time = key->time + (key[1].time - key->time) * k / 16.0;
            double difference = fabs(kfi_curve_value(a, time, 0.0) - kfi_curve_value(b, time, 0.0));
            if (!(difference <= worst)) {
                worst = difference;
                *at = time;
            }
        }
    return worst;
}
