/* Transactions: petal_transaction_*. A transaction is a part of its database, in place of a
 * snapshot for reads, and of a batch for writes. */
#ifndef TOOLS_PYTHON_NATIVE_TRANSACTION_H
#define TOOLS_PYTHON_NATIVE_TRANSACTION_H

#include "tools/python/native/database.h"

int py_transaction_begin(py_database *database, int durability, uint32_t deadline_ms,
                         py_part **transaction, petal_error *error);

/* It is over, whatever the status. (py_part_close aborts.) */
int py_transaction_commit(py_part *transaction, petal_error *error);

#endif
