#include "session.h"

#include <stdio.h>

int main(void)
{
    static const struct { const char *key; long at; } requests[] = {
        { "ada", 10 }, { "bob", 20 }, { "ada", 30 }, { "cyd", 90 }, { "bob", 95 },
    };
    struct table t = { NULL, 0, 2, 70 };
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        printf("%s %d\n", requests[i].key, serve(&t, requests[i].key, requests[i].at));
    table_clear(&t);
    return 0;
}
