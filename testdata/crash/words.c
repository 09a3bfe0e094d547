/* Words of a line, joined by dashes: the room for the last dash is forgotten. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t room_for(char **words, int n)
{
    size_t room = 0;
    for (int i = 0; i < n; i++)
        room += strlen(words[i]) + 1;
    return room;
}

static void append(char *out, size_t *at, const char *word)
{
    while (*word)
        out[(*at)++] = *word++;
    out[(*at)++] = '-';
    out[*at] = 0; /* fault */
}

static char *join(char **words, int n)
{
    size_t at = 0, room = room_for(words, n);
    char *out = malloc(room);
    if (!out)
        return NULL;
    for (int i = 0; i < n; i++)
        append(out, &at, words[i]); /* caller */
    return out;
}

int main(void)
{
    char *words[] = { "one", "two", "three!!" };
    char *line = join(words, 3);
    if (line)
        puts(line);
    free(line);
    return 0;
}
