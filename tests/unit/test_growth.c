/* What has to be looked for among many is looked for in a time that grows no faster than they do. */
#include "convert.h"
#include "helper_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

enum { NAME = 16, TIMES = 5 };

/* The seconds it takes to look for as many edited nodes as there are, each of which stands one place further
 * on than it did. */
static double uncount(size_t nodes)
{
    kf_job job;
    double least = 1e9;
    char *names = malloc((nodes + 1) * NAME);
    kf_node *was = calloc(nodes, sizeof *was), *now = calloc(nodes, sizeof *now);
    kfi_wanted *wanted = calloc(nodes, sizeof *wanted);
    kfi_change *changes = calloc(nodes, sizeof *changes);
    assert_true(names && was && now && wanted && changes);
    for (size_t i = 0; i <= nodes; i++)
        snprintf(names + i * NAME, NAME, "part_%09zu", i);
    for (size_t i = 0; i < nodes; i++) {
        was[i].name = names + i * NAME;
        now[i].name = names + (i + 1) * NAME;
        wanted[i] = (kfi_wanted){.node = (uint32_t)i, .change = i};
    }
    kf_anim original = {.nodes = was, .node_count = nodes}, again = {.nodes = now, .node_count = nodes};
    for (int i = 0; i < TIMES; i++) {
        kfi_merge_report report = {
            .wanted = wanted, .wanted_count = nodes, .changes = changes, .changed = nodes};
        memory_job_begin(&job);
        clock_t start = clock();
        assert_true(kfi_uncount_gone(&job, &original, &original, &again, &report));
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        memory_job_end(&job);
        least = seconds < least ? seconds : least;
        assert_int_equal(report.changed, nodes - 1); /* the first is gone */
        assert_int_equal(changes[0].what, KFI_WHAT_SAME);
    }
    free(names);
    free(was);
    free(now);
    free(wanted);
    free(changes);
    return least;
}

static void test_nodes(void **state)
{
    (void)state;
    double few = uncount(4000), many = uncount(32000);
    if (many > 24 * few) /* 8 times as many; each with each would take 64 times as long */
        fail_msg("%g s for 4000 nodes, %g s for 32000", few, many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nodes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
