/* A field that only one arm of its constructor sets. */
#include <stdio.h>
#include <stdlib.h>

struct limits {
    int low, high;
};

struct limits *limits_new(int high)
{
    struct limits *l = malloc(sizeof *l);
    if (!l)
        abort();
    if (high > 0)
        l->low = 0;
    l->high = high;
    return l;
}

int inside(const struct limits *l, int value)
{
    if (value < l->low) /* fault */
        return 0;
    return value <= l->high;
}

int check(int high, int value)
{
    struct limits *l = limits_new(high);
    int ok = inside(l, value); /* caller */
    free(l);
    return ok;
}

int main(int argc, char **argv)
{
    (void)argv;
    printf("%d\n", check(-argc, 3));
    return 0;
}
