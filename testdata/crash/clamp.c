/* A level scaled by a power of two that a caller may make negative. */
#include <stdio.h>

int scale(int level, int by)
{
    if (level == 0)
        return 0;
    return level << by; /* fault */
}

int adjust(int level, int from, int to)
{
    int by = to - from;
    return scale(level, by); /* caller */
}

int main(int argc, char **argv)
{
    (void)argv;
    printf("%d\n", adjust(3, argc + 4, 2));
    return 0;
}
