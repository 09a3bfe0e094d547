#include "session.h"

#include <stdlib.h>
#include <string.h>

struct session *table_find(const struct table *t, const char *key)
{
    for (struct session *s = t->first; s; s = s->next) {
        if (strcmp(s->key, key) == 0)
            return s;
    }
    return NULL;
}

struct session *table_add(struct table *t, const char *key, long now)
{
    struct session *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    strncpy(s->key, key, sizeof s->key - 1);
    s->seen = now;
    s->next = t->first;
    t->first = s;
    t->count++;
    return s;
}

/* Frees the sessions that nobody asked for within the lifetime. */
void table_expire(struct table *t, long now)
{
    struct session **at = &t->first;
    while (*at) {
        struct session *s = *at;
        if (now - s->seen <= t->lifetime) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        t->count--;
        free(s);
    }
}

void table_clear(struct table *t)
{
    while (t->first) {
        struct session *s = t->first;
        t->first = s->next;
        free(s);
    }
    t->count = 0;
}
