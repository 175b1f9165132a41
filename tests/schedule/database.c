/* database.c -- scenarios of whole databases. */
#include "tests/schedule/scenario.h"

const struct scenario database_scenarios[] = {{NULL, NULL, 0}};
