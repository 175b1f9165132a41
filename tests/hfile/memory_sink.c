/* memory_sink.c -- see memory_sink.h. */
#include "tests/hfile/memory_sink.h"

#include "tools/hfile/format/error.h"
#include "tools/hfile/format/memory.h"

static enum petal_status
sink_write(void *context, const void *bytes, size_t size, petal_error *error)
{
    struct memory_sink *memory = context;

    if (memory->writes_left == 0)
        return hfile_error_set(error, PETAL_NO_SPACE, "memory", "the sink is full");
    memory->writes_left--;
    memory->writes++;
    return memory->forgets || hfile_buffer_append(&memory->bytes, bytes, size)
               ? PETAL_OK
               : hfile_error_no_memory(error);
}

petal_hfile_sink
memory_sink_begin(struct memory_sink *memory)
{
    *memory = (struct memory_sink){.writes_left = UINT64_MAX};
    hfile_buffer_init(&memory->bytes, &hfile_default_allocator);
    return (petal_hfile_sink){memory, "memory", sink_write};
}

void
memory_sink_free(struct memory_sink *memory)
{
    hfile_buffer_free(&memory->bytes);
}
