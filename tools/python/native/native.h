/* All that Python calls. The build reads petal.h and this to declare it; neither is kept twice. */
#ifndef TOOLS_PYTHON_NATIVE_NATIVE_H
#define TOOLS_PYTHON_NATIVE_NATIVE_H

#include "tools/python/native/call.h"
#include "tools/python/native/database.h"
#include "tools/python/native/map.h"
#include "tools/python/native/read.h"
#include "tools/python/native/table.h"
#include "tools/python/native/transaction.h"
#include "tools/python/native/write.h"

#endif
