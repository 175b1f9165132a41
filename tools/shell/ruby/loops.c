/*
 * loops.c -- where in the input the command at hand is called.  See tools/shell/ruby/state.h.
 *
 * mruby tells nobody of a loop.  A command that is called from a block or a method of one's own is
 * not called by the input itself; a while is a jump backward, found in the input's instructions.
 */
#include "tools/shell/ruby/state.h"

#include <mruby/irep.h>
#include <mruby/proc.h>

#include <mruby/debug.h> /* needs irep.h */

#include <string.h>

/* Operands of an instruction, by the letters of mruby/ops.h: how many, and bytes of all of them
 * where none, the first, the second, or the first and the second are longer. */
enum operand_format {
    FORMAT_Z,
    FORMAT_B,
    FORMAT_BB,
    FORMAT_BBB,
    FORMAT_BS,
    FORMAT_BSS,
    FORMAT_S,
    FORMAT_W
};

static const uint8_t operand_bytes[][4] = {
    [FORMAT_Z] = {0, 0, 0, 0},   [FORMAT_B] = {1, 2, 1, 2},  [FORMAT_BB] = {2, 3, 3, 4},
    [FORMAT_BBB] = {3, 4, 4, 5}, [FORMAT_BS] = {3, 4, 3, 4}, [FORMAT_BSS] = {5, 6, 5, 6},
    [FORMAT_S] = {2, 2, 2, 2},   [FORMAT_W] = {3, 3, 3, 3},
};

enum operation {
#define OPCODE(name, format) OPERATION_##name,
#include <mruby/ops.h>
#undef OPCODE
    OPERATIONS
};

static const uint8_t formats[] = {
#define OPCODE(name, format) FORMAT_##format,
#include <mruby/ops.h>
#undef OPCODE
};

static bool
is_jump(enum operation operation)
{
    return operation == OPERATION_JMP || operation == OPERATION_JMPIF ||
           operation == OPERATION_JMPNOT || operation == OPERATION_JMPNIL;
}

void
ruby_find_loops(struct ruby *ruby, const struct RProc *proc)
{
    const mrb_irep *irep = proc->body.irep;
    unsigned longer = 0;

    ruby->loop_count = 0;
    for (size_t at = 0; at < irep->ilen;) {
        enum operation operation = irep->iseq[at];
        size_t end = at + 1;

        if (operation >= OPERATIONS)
            return;
        end += operand_bytes[formats[operation]][longer];
        if (is_jump(operation) && end <= irep->ilen) {
            int16_t distance = (int16_t)(irep->iseq[end - 2] << 8 | irep->iseq[end - 1]);

            if (distance < 0 && (size_t)-distance <= end) {
                ruby->loops = memory_room(ruby->loops, ruby->loop_count, &ruby->loop_capacity,
                                          sizeof(*ruby->loops));
                ruby->loops[ruby->loop_count++] = (struct ruby_loop){end - (size_t)-distance, end};
            }
        }
        longer = operation == OPERATION_EXT1   ? 1
                 : operation == OPERATION_EXT2 ? 2
                 : operation == OPERATION_EXT3 ? 3
                                               : 0;
        at = end;
    }
}

/* The outermost loop around the instruction, which ends last. */
static uintptr_t
loop_around(const struct ruby *ruby, size_t at)
{
    size_t end = 0;

    for (size_t i = 0; i < ruby->loop_count; i++)
        if (ruby->loops[i].begin < at && at <= ruby->loops[i].end && ruby->loops[i].end > end)
            end = ruby->loops[i].end;
    return end;
}

uintptr_t
ruby_loop_of_command(const struct ruby *ruby)
{
    const struct mrb_context *root = ruby->mrb->root_c;
    const mrb_callinfo *input = root->cibase;
    size_t at = (size_t)(input->pc - input->proc->body.irep->iseq);
    uintptr_t loop = loop_around(ruby, at);

    if (loop != 0)
        return loop;
    return ruby->mrb->c == root && root->ci - 1 == input ? 0 : at;
}

static bool
is_of_input(const mrb_callinfo *call)
{
    return call->proc != NULL && !MRB_PROC_CFUNC_P(call->proc) &&
           call->proc->body.irep->debug_info != NULL;
}

int
ruby_line_of_command(const struct ruby *ruby)
{
    const struct mrb_context *context = ruby->mrb->c;

    for (; context != NULL; context = context->prev)
        for (const mrb_callinfo *call = context->ci; call >= context->cibase; call--) {
            const mrb_irep *irep;
            const char *file;
            uint32_t at;

            if (!is_of_input(call))
                continue;
            irep = call->proc->body.irep;
            at = (uint32_t)(call->pc - irep->iseq);
            file = mrb_debug_get_filename(ruby->mrb, irep, at > 0 ? at - 1 : 0);
            if (file != NULL && strcmp(file, RUBY_FILE) == 0)
                return mrb_debug_get_line(ruby->mrb, irep, at > 0 ? at - 1 : 0);
        }
    return 0;
}
