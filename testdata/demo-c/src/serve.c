#include "session.h"

/* Counts a request, and says how many there were. */
int answer(struct session *s, long now)
{
    if (now > s->seen)
        s->seen = now;
    s->hits++;
    return s->hits;
}

/* Answers a request; a key that is new begins a session. */
int serve(struct table *t, const char *key, long now)
{
    struct session *s = table_find(t, key);
    if (!s)
        s = table_add(t, key, now);
    if (!s)
        return GONE;
    if (t->count > t->limit)
        table_expire(t, now);
    return answer(s, now);
}
