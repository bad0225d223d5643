#include "helper_rounds.h"

#include <stdio.h>
#include <stdlib.h>

int rounds(int all)
{
    static int thin;
    if (thin == 0) {
        const char *asked = getenv("KEYFERRY_THIN");
        thin = asked ? atoi(asked) : 1;
        if (thin < 1)
            thin = 1;
        if (thin > 1)
            printf("KEYFERRY_THIN: one of %d cases where there are many\n", thin);
    }
    return all / thin > 0 ? all / thin : 1;
}
