/* set_fixture.c -- see set_fixture.h. */
#include "tests/bloom/set_fixture.h"

struct memory_vfs *set_vfs;
petal_env set_env;

int
set_fixture_begin(void **state)
{
    (void)state;
    set_vfs = memory_vfs_new();
    set_env = (petal_env){.size = sizeof set_env, .vfs = memory_vfs_table(set_vfs)};
    return 0;
}

int
set_fixture_end(void **state)
{
    (void)state;
    memory_vfs_free(set_vfs);
    return 0;
}
