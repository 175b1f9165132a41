/* shrink.h -- make a failing list of operations small. */
#ifndef PETAL_TESTS_MODEL_SHRINK_H
#define PETAL_TESTS_MODEL_SHRINK_H

#include "tests/model/operation.h"

/* Take operations, items of batches and options out of the list as long as it fails. */
void shrink_list(struct operation_list *list,
                 bool (*fails)(const struct operation_list *list, const void *argument),
                 const void *argument);

#endif
