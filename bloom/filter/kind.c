/* kind.c -- see kind.h. */
#include "bloom/filter/kind.h"

const char *
filter_kind_name(enum petal_bloom_kind kind)
{
    static const char *const names[FILTER_KINDS] = {
        NULL, "STANDARD", "BLOCKED", "COUNTING", "GROWING", "RIBBON", "FUSE",
    };

    return (unsigned)kind < FILTER_KINDS ? names[kind] : NULL;
}

void
filter_init(petal_bloom *bloom, const petal_bloom_options *options)
{
    bloom->kind = options->kind;
    bloom->keys = options->keys;
    bloom->salt = options->salt;
    bloom->rate = options->rate;
    env_init(&bloom->env, options->env);
}
