/* near.c -- see tools/shell/text/near.h. */
#include "tools/shell/text/near.h"

enum { LONGEST_NAME = 64, NEAR = 2 };

static char
small(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter | 0x20) : letter;
}

static unsigned
lesser(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Letters to insert, remove, change or exchange until `a` is `b` (Damerau and Levenshtein, each
 * place changed once). */
static unsigned
edit_distance(petal_slice a, petal_slice b)
{
    unsigned rows[3][LONGEST_NAME + 1] = {{0}};
    const char *from = a.data, *to = b.data;

    for (unsigned j = 0; j <= b.size; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= a.size; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];

        row[0] = i;
        for (unsigned j = 1; j <= b.size; j++) {
            char x = small(from[i - 1]), y = small(to[j - 1]);

            row[j] = lesser(lesser(above[j], row[j - 1]) + 1, above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == small(to[j - 2]) && y == small(from[i - 2]))
                row[j] = lesser(row[j], second[j - 2] + 1);
        }
    }
    return rows[a.size % 3][b.size];
}

void
near_consider_bytes(petal_slice name, petal_slice candidate, petal_slice *nearest, unsigned *least)
{
    unsigned distance;

    if (name.size > LONGEST_NAME || candidate.size > LONGEST_NAME || slices_equal(name, candidate))
        return;
    distance = edit_distance(name, candidate);
    if (distance > NEAR || 2 * distance >= name.size ||
        (nearest->data != NULL && distance >= *least))
        return;
    *nearest = candidate;
    *least = distance;
}

void
near_consider(petal_slice name, const char *candidate, const char **nearest, unsigned *least)
{
    petal_slice kept = *nearest != NULL ? slice_of_string(*nearest) : (petal_slice){NULL, 0};

    near_consider_bytes(name, slice_of_string(candidate), &kept, least);
    if (kept.data == candidate)
        *nearest = candidate;
}
