/* How long the tests that try a great many cases go on. With KEYFERRY_THIN=8 in the environment they take one of eight
 * cases, the same ones each time: for machines that are emulated, and for builds that count. */
#ifndef HELPER_ROUNDS_H
#define HELPER_ROUNDS_H

/* That many rounds, or the part of them that is asked for: at least one. Says so when it is a part. */
int rounds(int all);

#endif
