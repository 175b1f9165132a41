/* shrink.h -- make a failing list of operations small. */
#ifndef PETAL_TESTS_MODEL_SHRINK_H
#define PETAL_TESTS_MODEL_SHRINK_H

#include "tests/model/run.h"

/* Take operations, items of batches and options out of the list as long as model and engine differ
 * under the setting. */
void shrink_list(struct operation_list *list, const struct run_settings *setting);

#endif
