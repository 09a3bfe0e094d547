/* A copy that an early return forgets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *copy(const char *s)
{
    size_t n = strlen(s) + 1;
    char *c = malloc(n); /* fault */
    if (c)
        memcpy(c, s, n);
    return c;
}

int shout(const char *s)
{
    char *c = copy(s); /* caller */
    if (!c || c[0] == '#')
        return 0;
    c[0] -= 32;
    puts(c);
    free(c);
    return 1;
}

int main(void)
{
    return shout("#comment");
}
