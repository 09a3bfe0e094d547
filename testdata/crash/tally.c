/* Two threads count into one tally without its lock. */
#include <pthread.h>
#include <stdio.h>

struct tally {
    pthread_mutex_t lock;
    long sum;
};

static struct tally total = { PTHREAD_MUTEX_INITIALIZER, 0 };

void tally_add(struct tally *t, long n)
{
    t->sum += n; /* fault */
}

void *count(void *arg)
{
    for (long i = 0; i < 20000; i++)
        tally_add(arg, i & 1); /* caller */
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, count, &total);
    pthread_create(&b, NULL, count, &total);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%ld\n", total.sum);
    return 0;
}
