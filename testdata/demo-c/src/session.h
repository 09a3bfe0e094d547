/* Sessions by key, and what a server does with them. */
#ifndef SESSION_H
#define SESSION_H

#include <stddef.h>

#define GONE (-1)

struct session {
    char key[16];
    long seen; /* when it was last served */
    int hits;
    struct session *next;
};

struct table {
    struct session *first;
    size_t count, limit;
    long lifetime;
};

struct session *table_find(const struct table *t, const char *key);
struct session *table_add(struct table *t, const char *key, long now);
void table_expire(struct table *t, long now);
void table_clear(struct table *t);

int answer(struct session *s, long now);
int serve(struct table *t, const char *key, long now);

#endif
