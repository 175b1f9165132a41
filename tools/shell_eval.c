/*
 * shell_eval.c -- see shell_eval.h.
 *
 * A command that fails shows an ERROR block, and the next one of its line is run.  A name that means
 * nothing ends its line.  The echo shows the value of the last expression of an input, unless it is nil.
 */
#include "tools/shell_eval.h"

#include "tools/shell_command.h"
#include "tools/shell_parser.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct eval {
    struct session *session;
    const struct text *input;
    unsigned line; /* number of the input's first line */
};

/* Names that stand for themselves, so that hash keys need no quotes. */
static const char *const constants[] = {
    "ALLOW_PARTIAL_RESULTS",
    "ALL_METRICS",
    "ATTRIBUTES",
    "BATCH",
    "BLOCKCACHE",
    "BLOCKSIZE",
    "BLOOMFILTER",
    "BLOOM_RATE_PER_FILE",
    "CACHE",
    "CACHE_BLOCKS",
    "CACHE_BLOOMS_ON_WRITE",
    "CACHE_DATA_ON_WRITE",
    "CACHE_INDEX_ON_WRITE",
    "CLONE_SFT",
    "COLUMN",
    "COLUMNS",
    "COMPACTION_ENABLED",
    "COMPRESSION",
    "COMPRESSION_COMPACT",
    "COMPRESSION_COMPACT_MAJOR",
    "COMPRESSION_COMPACT_MINOR",
    "COMPRESS_TAGS",
    "CONFIGURATION",
    "CONSISTENCY",
    "COUNTERS",
    "DATA_BLOCK_ENCODING",
    "DFS_REPLICATION",
    "DURABILITY",
    "ENCRYPTION",
    "ENCRYPTION_KEY",
    "EVICT_BLOCKS_ON_CLOSE",
    "FILTER",
    "FORMATTER",
    "FORMATTER_CLASS",
    "INDEX_BLOCK_ENCODING",
    "INTERVAL",
    "IN_MEMORY",
    "IN_MEMORY_COMPACTION",
    "INCLUDE_STOPROW",
    "ISOLATION_LEVEL",
    "IS_MOB",
    "KEEP_DELETED_CELLS",
    "LIMIT",
    "MAXLENGTH",
    "MAX_FILESIZE",
    "MAX_RESULT_SIZE",
    "MEMSTORE_FLUSHSIZE",
    "MERGE_ENABLED",
    "METADATA",
    "METHOD",
    "METRICS",
    "MIN_VERSIONS",
    "MOB_THRESHOLD",
    "NAME",
    "NEW_VERSION_BEHAVIOR",
    "NUMREGIONS",
    "OWNER",
    "PREFETCH_BLOCKS_ON_OPEN",
    "PRIORITY",
    "RAW",
    "READONLY",
    "READ_TYPE",
    "REGION_REPLICATION",
    "REPLICATION_SCOPE",
    "RESTORE_ACL",
    "REVERSED",
    "ROWPREFIXFILTER",
    "SKIP_FLUSH",
    "SPLITALGO",
    "SPLITS",
    "SPLITS_FILE",
    "SPLIT_ENABLED",
    "STARTROW",
    "STOPROW",
    "STORAGE_POLICY",
    "TIMERANGE",
    "TIMESTAMP",
    "TTL",
    "VERSIONS",
    "WITHOUT",
};

static const struct {
    const char *name, *meaning;
} constant_aliases[] = {{"ENDKEY", "STOPROW"}, {"ENDROW", "STOPROW"}, {"STARTKEY", "STARTROW"}};

static bool eval_node(struct eval *eval, const struct node *node, struct value *value);

/* Show `kind (petal:LINE: message)`, the line and a caret under the place. */
static void
show_mistake(struct eval *eval, const char *kind, size_t position, const char *message)
{
    const struct text *input = eval->input;
    struct output *output = &eval->session->output;
    size_t begin = 0, end;
    unsigned line = eval->line;
    petal_slice before;

    if (position >= input->size)
        position = input->size > 0 ? input->size - 1 : 0;
    for (size_t i = 0; i < position; i++) {
        if (input->bytes[i] == '\n') {
            begin = i + 1;
            line++;
        }
    }
    for (end = begin; end < input->size && input->bytes[end] != '\n'; end++)
        ;
    output_plain(output, "%s (petal:%u: %s)", kind, line, message);
    output_plain_slice(output, (petal_slice){input->bytes + begin, end - begin});

    text_clear(&output->line);
    before = (petal_slice){input->bytes + begin, position - begin};
    while (before.size > 0) {
        size_t length = utf8_character_bytes(before);

        length = length > 0 ? length : 1;
        text_add_string(&output->line, *(const char *)before.data == '\t' ? "\t" : " ");
        before.data = (const char *)before.data + length;
        before.size -= length;
    }
    text_add_string(&output->line, "^");
    output_plain_slice(output, text_slice(&output->line));
}

static void
note_status(struct session *session, enum shell_status status)
{
    if (status > session->worst)
        session->worst = status;
    if (status >= SHELL_USAGE && session->stop_at_failure)
        session->ended = true;
}

static bool
fail_name(struct eval *eval, const struct node *node, const char *what)
{
    struct text message = {0};
    const char *nearest = node->kind == NODE_CALL ? command_nearest(node->name) : NULL;

    text_add_format(&message, "%s '", what);
    text_add_slice(&message, node->name);
    text_add_string(&message, "'");
    if (nearest != NULL)
        text_add_format(&message, "; did you mean '%s'?", nearest);
    show_mistake(eval, "NameError", node->position, text_string(&message));
    text_free(&message);
    note_status(eval->session, SHELL_USAGE);
    return false;
}

static bool
eval_constant(struct eval *eval, const struct node *node, struct value *value)
{
    for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
        if (slice_is(node->name, constants[i])) {
            *value = value_string(node->name);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(constant_aliases) / sizeof(constant_aliases[0]); i++) {
        if (slice_is(node->name, constant_aliases[i].name)) {
            *value = value_string(slice_of_string(constant_aliases[i].meaning));
            return true;
        }
    }
    return fail_name(eval, node, "unknown constant");
}

static bool
eval_items(struct eval *eval, const struct node *node, struct value **items)
{
    *items = arena_allocate(&eval->session->arena, (node->count + 1) * sizeof(struct value));
    for (size_t i = 0; i < node->count; i++)
        if (!eval_node(eval, node->items[i], &(*items)[i]))
            return false;
    return true;
}

static bool
eval_hash(struct eval *eval, const struct node *node, struct value *value)
{
    size_t pairs = node->count / 2;
    struct value *items;

    if (!eval_items(eval, node, &items))
        return false;
    *value = (struct value){.kind = VALUE_HASH};
    value->as.pairs = arena_allocate(&eval->session->arena, pairs * sizeof(struct value_pair));
    for (size_t i = 0; i < pairs; i++)
        value_hash_set(value, &items[2 * i], &items[2 * i + 1]);
    return true;
}

/* ---- Commands ---------------------------------------------------------------------------------- */

static double
seconds_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void
show_duration(struct session *session, double seconds)
{
    char line[48];

    if (session->no_times)
        return;
    (void)snprintf(line, sizeof(line), "Took %.4f seconds", seconds);
    output_line(&session->output, slice_of_string(line));
}

static void
show_failure(struct session *session, const struct command *command)
{
    if (session->message.size == 0)
        return;
    output_plain(&session->output, "\nERROR: %s\n\nFor usage try 'help \"%s\"'\n",
                 text_string(&session->message), command->main_name);
}

static enum shell_status
fail_count(struct session *session, const struct command *command, size_t count)
{
    if (command->most == COMMAND_ANY_NUMBER)
        return session_fail(session, SHELL_USAGE,
                            "wrong number of arguments (given %zu, expected %zu+)", count,
                            command->least);
    if (command->least == command->most)
        return session_fail(session, SHELL_USAGE,
                            "wrong number of arguments (given %zu, expected %zu)", count,
                            command->least);
    return session_fail(session, SHELL_USAGE,
                        "wrong number of arguments (given %zu, expected %zu..%zu)", count,
                        command->least, command->most);
}

static void
run_command(struct session *session, const struct command *command, const struct value *arguments,
            size_t count, struct value *value)
{
    double begin = seconds_now();
    enum shell_status status;

    *value = value_nil();
    text_clear(&session->message);
    if (count < command->least || count > command->most)
        status = fail_count(session, command, count);
    else
        status = command->run(session, arguments, count, value);
    show_failure(session, command);
    if (!session->ended)
        show_duration(session, seconds_now() - begin);
    note_status(session, status);
    (void)fflush(session->output.file);
}

/* The arguments of a command whose argument is a call: the called name, then that call's arguments. */
static bool
eval_called(struct eval *eval, const struct node *node, struct value **arguments, size_t *count)
{
    const struct node *called = node->count == 1 ? node->items[0] : NULL;
    struct value *items;

    if (called == NULL || called->kind != NODE_CALL || called->receiver != NULL) {
        *count = 0;
        return true;
    }
    if (!eval_items(eval, called, &items))
        return false;
    *count = called->count + 1;
    *arguments = arena_allocate(&eval->session->arena, *count * sizeof(struct value));
    (*arguments)[0] = (struct value){.kind = VALUE_SYMBOL, .as.bytes = called->name};
    memcpy(*arguments + 1, items, called->count * sizeof(struct value));
    return true;
}

static bool
eval_call(struct eval *eval, const struct node *node, struct value *value)
{
    const struct command *command = command_find(node->name);
    struct value *arguments = NULL;
    size_t count = node->count;
    bool good;

    if (node->receiver != NULL) {
        struct value receiver;

        return eval_node(eval, node->receiver, &receiver) &&
               fail_name(eval, node, "unknown method");
    }
    if (command == NULL)
        return fail_name(eval, node, "unknown command");
    good = command->takes_call ? eval_called(eval, node, &arguments, &count)
                               : eval_items(eval, node, &arguments);
    if (good)
        run_command(eval->session, command, arguments, count, value);
    return good;
}

static bool
eval_node(struct eval *eval, const struct node *node, struct value *value)
{
    switch (node->kind) {
    case NODE_LITERAL:
        *value = node->value;
        return true;
    case NODE_CONSTANT:
        return eval_constant(eval, node, value);
    case NODE_CALL:
        return eval_call(eval, node, value);
    case NODE_ARRAY:
        *value = (struct value){.kind = VALUE_ARRAY, .count = node->count};
        return eval_items(eval, node, &value->as.items);
    case NODE_HASH:
        return eval_hash(eval, node, value);
    }
    return false;
}

static void
show_echo(struct session *session, const struct value *value)
{
    if (value->kind == VALUE_NIL)
        return;
    text_clear(&session->scratch);
    text_add_string(&session->scratch, "=> ");
    value_inspect(&session->scratch, value);
    output_plain_slice(&session->output, text_slice(&session->scratch));
}

void
eval_input(struct session *session, struct lexer *lexer, unsigned line)
{
    struct eval eval = {.session = session, .input = &lexer->input, .line = line};
    struct value value = value_nil();
    struct node **statements;
    bool good = true;
    size_t count = 0;

    lexer_finish(lexer);
    if (lexer->error.message[0] != '\0' ||
        !parser_parse(lexer, &session->arena, &statements, &count, &lexer->error)) {
        show_mistake(&eval, "SyntaxError", lexer->error.position, lexer->error.message);
        note_status(session, SHELL_USAGE);
        count = 0;
    }
    for (size_t i = 0; i < count && good && !session->ended; i++)
        good = eval_node(&eval, statements[i], &value);
    if (good && !session->ended)
        show_echo(session, &value);
    (void)fflush(session->output.file);
    lexer_clear(lexer);
    arena_clear(&session->arena);
}
