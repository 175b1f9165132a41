/* texts.c -- the version of the library, as petal.h had it when the library was compiled. */
#include "engine/petal.h"

#define NUMBER_TEXT(number) #number
#define TEXT_OF(number)     NUMBER_TEXT(number)

const char *
petal_version(void)
{
    return TEXT_OF(PETAL_VERSION_MAJOR) "." TEXT_OF(PETAL_VERSION_MINOR) "." TEXT_OF(
        PETAL_VERSION_PATCH);
}
