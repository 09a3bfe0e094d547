/* A queue of jobs. A job that fails is dropped, and then asked for its name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
    char name[16];
    int tries;
    struct job *next;
};

struct queue {
    struct job *head;
    int dropped;
};

static struct job *job_new(const char *name)
{
    struct job *j = malloc(sizeof *j);
    if (!j)
        abort();
    strncpy(j->name, name, sizeof j->name - 1);
    j->name[sizeof j->name - 1] = 0;
    j->tries = 0;
    j->next = NULL;
    return j;
}

static void queue_push(struct queue *q, const char *name)
{
    struct job *j = job_new(name);
    j->next = q->head;
    q->head = j;
}

static void queue_drop(struct queue *q)
{
    struct job *j = q->head;
    q->head = j->next;
    q->dropped++;
    free(j);
}

static int job_report(const struct job *j, int code)
{
    if (code == 0)
        return 0;
    return j->tries + code; /* fault */
}

static int queue_run(struct queue *q, int code)
{
    struct job *j = q->head;
    if (!j)
        return -1;
    j->tries++;
    if (code > 1)
        queue_drop(q);
    return job_report(j, code); /* caller */
}

int main(int argc, char **argv)
{
    struct queue q = { NULL, 0 };
    int code = argc + 1;
    queue_push(&q, argv[0]);
    queue_push(&q, "second");
    printf("%d\n", queue_run(&q, code));
    while (q.head)
        queue_drop(&q);
    return 0;
}
