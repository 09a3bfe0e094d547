/* A search tree: the smallest key of an empty subtree is asked for. */
#include <stddef.h>

struct node {
    int key;
    struct node *left, *right;
};

int node_key(const struct node *n)
{
    return n->key; /* fault */
}

const struct node *smallest(const struct node *n)
{
    while (n && n->left)
        n = n->left;
    return n;
}

int successor(const struct node *n, int fallback)
{
    const struct node *s = smallest(n->right);
    if (fallback >= 0)
        return fallback;
    return node_key(s); /* caller */
}

int main(int argc, char **argv)
{
    struct node leaf = { 7, NULL, NULL };
    struct node root = { argc, &leaf, NULL };
    (void)argv;
    return successor(&root, -1);
}
