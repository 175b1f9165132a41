/*
 * eval.c -- see tools/shell/eval/eval.h.
 *
 * A command that fails shows an ERROR block, and the next one of its line is run.  A name that
 * means nothing ends its line.  The echo shows the value of the last expression of an input, unless
 * it is nil.
 */
#include "tools/shell/eval/eval.h"

#include "tools/shell/eval/method.h"
#include "tools/shell/language/parser.h"
#include "tools/shell/session/run.h"

#include <string.h>

struct eval {
    struct session *session;
    const struct text *input;
    unsigned line;  /* number of the input's first line */
    unsigned calls; /* whose arguments are being evaluated */
};

/* Names that stand for themselves, so that hash keys need no quotes; a blank before and behind
 * each. */
static const char constants[] =
    " ALLOW_PARTIAL_RESULTS ALL_METRICS ALL_VERSIONS ATTRIBUTES AUTHORIZATIONS BATCH BLOCKCACHE "
    "BLOCKSIZE BLOOMFILTER BLOOMFILTER_KIND BLOOM_RATE_PER_FILE CACHE CACHE_BLOCKS "
    "CACHE_BLOOMS_ON_WRITE "
    "CACHE_DATA_ON_WRITE CACHE_INDEX_ON_WRITE CLASSNAME CLONE_SFT CLUSTER CLUSTER_KEY CODEC COLUMN "
    "COLUMNS COMPACTION_ENABLED COMPRESSION COMPRESSION_COMPACT COMPRESSION_COMPACT_MAJOR "
    "COMPRESSION_COMPACT_MINOR COMPRESS_TAGS CONFIG CONFIGURATION CONSISTENCY COUNTERS CREATE DATA "
    "DATA_BLOCK_ENCODING DFS_REPLICATION DISABLE DROP_TAGS DURABILITY ENCODING ENCRYPTION "
    "ENCRYPTION_KEY ENDPOINT_CLASSNAME EVICT_BLOCKS_ON_CLOSE FAMILY FILTER FLUSH_EVERY "
    "FLUSH_POLICY FORMAT FORMATTER FORMATTER_CLASS GLOBAL_BYPASS INCLUDE_STOPROW "
    "INDEX_BLOCK_ENCODING INTERVAL IN_MEMORY IN_MEMORY_COMPACTION ISOLATION_LEVEL IS_MOB IS_ROOT "
    "KEEP_DELETED_CELLS KEYS LIMIT LOCALITY_THRESHOLD MACHINE MAXLENGTH MAX_ERRORS MAX_FILESIZE "
    "MAX_RESULT_SIZE MEMSTORE_FLUSHSIZE MERGE_ENABLED METADATA METHOD METRICS MIN_VERSIONS "
    "MOB_COMPACT_PARTITION_POLICY MOB_THRESHOLD NAME NAMESPACE NAMESPACES NEW_VERSION_BEHAVIOR "
    "NONE NORMALIZATION_ENABLED NORMALIZER_TARGET_REGION_COUNT NORMALIZER_TARGET_REGION_SIZE "
    "NO_INSERTS NO_WRITES NO_WRITES_COMPACTIONS NUMREGIONS ONLY_FIELDS ON_ERROR OWNER POLICY "
    "PREFETCH_BLOCKS_ON_OPEN PRIORITY RAW READ READONLY READ_TYPE REGION_MEMSTORE_REPLICATION "
    "REGION_REPLICATION REGION_REPLICA_ID REMOTE_WAL_DIR REPLICATION_SCOPE REQUEST RESTORE_ACL "
    "REVERSED ROW ROWPREFIXFILTER SAMPLE SCOPE SERIAL SERVER_NAME SKIP_FIELDS SKIP_FLUSH SPACE "
    "SPLITALGO SPLITS SPLITS_FILE SPLIT_ENABLED SPLIT_POLICY SPLIT_SIZE STARTROW STATE STOPROW "
    "STORAGE_POLICY TABLE TABLE_CFS THREADS THROTTLE THROTTLE_TYPE TIMERANGE TIMESTAMP TTL TYPE "
    "USER VALUE VERSIONS VISIBILITY VISIBLE WITHOUT WRITE ";

static const struct {
    const char *name, *meaning;
} constant_aliases[] = {{"ENDKEY", "STOPROW"}, {"ENDROW", "STOPROW"}, {"STARTKEY", "STARTROW"}};

static bool eval_node(struct eval *eval, const struct node *node, struct value *value);

/* The input's mistake at a position. */
static void
show_mistake(struct eval *eval, const char *kind, size_t position, const char *message)
{
    struct place place = {
        .input = text_slice(eval->input), .position = position, .line = eval->line};

    run_mistake(eval->session, &place, kind, message);
}

static bool
fail_name(struct eval *eval, const struct node *node, const char *what)
{
    struct text message = {0};
    const char *nearest = node->kind == NODE_CALL && node->receiver == NULL
                              ? command_nearest(eval->session, node->name)
                              : NULL;

    text_add_format(&message, "%s '", what);
    text_add_slice(&message, node->name);
    text_add_string(&message, "'");
    if (nearest != NULL)
        text_add_format(&message, "; did you mean '%s'?", nearest);
    show_mistake(eval, "NameError", node->position, text_string(&message));
    text_free(&message);
    return false;
}

static bool
is_constant(petal_slice name)
{
    const char *found =
        memmem(constants, sizeof(constants) - 1, name.data, name.size); /* no name has a blank */

    while (found != NULL && (found[-1] != ' ' || found[name.size] != ' '))
        found = memmem(found + 1, (size_t)(constants + sizeof(constants) - 2 - found), name.data,
                       name.size);
    return found != NULL;
}

/* A word where a value is wanted: a constant in small letters, or text without quotes. */
static bool
fail_word(struct eval *eval, const struct node *node)
{
    struct text capitals = {0}, message = {0};

    text_add_slice(&capitals, node->name);
    for (size_t i = 0; i < capitals.size; i++)
        if (capitals.bytes[i] >= 'a' && capitals.bytes[i] <= 'z')
            capitals.bytes[i] ^= 0x20;
    text_add_string(&message, "unknown name '");
    text_add_slice(&message, node->name);
    if (is_constant(text_slice(&capitals)))
        text_add_format(&message, "'; did you mean %s, or text in quotes?", text_string(&capitals));
    else
        text_add_string(&message, "'; text stands in quotes");
    show_mistake(eval, "NameError", node->position, text_string(&message));
    text_free(&capitals);
    text_free(&message);
    return false;
}

/* A variable's value lives as long as the input at hand, whatever sets the variable meanwhile. */
static bool
eval_variable(struct eval *eval, const struct node *node, struct value *value)
{
    const struct value *variable = variables_get(&eval->session->variables, node->name);

    if (variable != NULL)
        *value = value_copy(&eval->session->arena, variable);
    return variable != NULL;
}

static bool
eval_constant(struct eval *eval, const struct node *node, struct value *value)
{
    if (eval_variable(eval, node, value))
        return true;
    if (is_constant(node->name)) {
        *value = value_string(node->name);
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(constant_aliases); i++) {
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

/* ---- Commands -------------------------------------------------------------------------------- */

static bool
eval_arguments(struct eval *eval, const struct node *node, struct value **arguments)
{
    bool good;

    eval->calls++;
    good = eval_items(eval, node, arguments);
    eval->calls--;
    return good;
}

/* The arguments of a command whose argument is a call: the called name, then that call's
 * arguments. */
static bool
eval_called(struct eval *eval, const struct node *node, struct value **arguments, size_t *count)
{
    const struct node *called = node->count == 1 ? node->items[0] : NULL;
    const struct command *command;
    struct value *items = NULL;
    size_t items_count = called != NULL ? called->count : 0;

    if (called == NULL || called->kind != NODE_CALL || called->receiver != NULL) {
        *count = 0;
        return true;
    }
    command = command_find(eval->session, called->name);
    if (command != NULL && command->takes_call) {
        if (!eval_called(eval, called, &items, &items_count))
            return false;
    } else if (!eval_arguments(eval, called, &items)) {
        return false;
    }
    *count = items_count + 1;
    *arguments = arena_allocate(&eval->session->arena, *count * sizeof(struct value));
    (*arguments)[0] = (struct value){.kind = VALUE_SYMBOL, .as.bytes = called->name};
    if (items_count > 0)
        memcpy(*arguments + 1, items, items_count * sizeof(struct value));
    return true;
}

static bool
eval_is_over(const struct eval *eval)
{
    return eval->session->ended || eval->session->interrupted;
}

/*
 * Run the block for each item: `each` gives the receiver back, `map` what the block's last
 * statements gave.  The block's parameter hides a variable of its name meanwhile.
 */
static bool
eval_blocks(struct eval *eval, const struct node *node, const struct value *receiver,
            struct value *value)
{
    struct session *session = eval->session;
    const struct node *block = node->block;
    bool map = slice_is(node->name, "map"), good = true;
    struct value mapped = {.kind = VALUE_ARRAY}, kept = value_nil();
    const struct value *hidden = variables_get(&session->variables, block->name);

    if (receiver->kind != VALUE_ARRAY || (!map && !slice_is(node->name, "each")))
        return fail_name(eval, node, "unknown method with a block");
    if (hidden != NULL)
        kept = value_copy(&session->arena, hidden);
    mapped.as.items = arena_allocate(&session->arena, (receiver->count + 1) * sizeof(struct value));
    for (size_t i = 0; i < receiver->count && good; i++) {
        struct value *result = &mapped.as.items[mapped.count++];

        *result = value_nil();
        variables_set(&session->variables, block->name, &receiver->as.items[i]);
        for (size_t k = 0; k < block->count && good && !eval_is_over(eval); k++)
            good = eval_node(eval, block->items[k], result);
        good = good && !eval_is_over(eval);
    }
    *value = map ? mapped : *receiver;
    if (hidden != NULL)
        variables_set(&session->variables, block->name, &kept);
    else
        variables_remove(&session->variables, block->name);
    return good;
}

static bool
eval_method(struct eval *eval, const struct node *node, struct value *value)
{
    struct value receiver, *arguments;

    if (!eval_node(eval, node->receiver, &receiver) || !eval_items(eval, node, &arguments))
        return false;
    *value = value_nil();
    if (node->block != NULL)
        return eval_blocks(eval, node, &receiver, value);
    return method_call(eval->session, &receiver, node->name, arguments, node->count, value) ||
           fail_name(eval, node, "unknown method");
}

/* An item of an array; nil if there is none. */
static bool
eval_index(struct eval *eval, const struct node *node, struct value *value)
{
    struct value receiver, index;

    if (!eval_node(eval, node->receiver, &receiver) || !eval_node(eval, node->items[0], &index))
        return false;
    if (receiver.kind != VALUE_ARRAY || index.kind != VALUE_INTEGER) {
        show_mistake(eval, "TypeError", node->position, "only an array's items have an index");
        return false;
    }
    *value = index.as.integer >= 0 && index.as.integer < (int64_t)receiver.count
                 ? receiver.as.items[index.as.integer]
                 : value_nil();
    return true;
}

/* help get: the name of a command that is not to be run. */
static bool
is_help(const struct node *node, struct value *argument)
{
    const struct node *named = node->count == 1 ? node->items[0] : NULL;

    if (named == NULL || !slice_is(node->name, "help") || named->kind != NODE_CALL ||
        named->receiver != NULL || !named->bare)
        return false;
    *argument = value_string(named->name);
    return true;
}

static bool
eval_call(struct eval *eval, const struct node *node, struct value *value)
{
    const struct command *command = command_find(eval->session, node->name);
    struct value *arguments = NULL;
    size_t count = node->count;
    struct value named;
    bool good;

    if (node->receiver != NULL)
        return eval_method(eval, node, value);
    if (node->bare && eval_variable(eval, node, value))
        return true;
    *value = value_nil();
    if (command == NULL) {
        /* Arguments are commands that would run, so the name is looked at first. */
        if (!function_is_known(node->name))
            return node->bare && eval->calls > 0 ? fail_word(eval, node)
                                                 : fail_name(eval, node, "unknown command");
        return eval_arguments(eval, node, &arguments) &&
               function_call(eval->session, node->name, arguments, node->count);
    }
    if (is_help(node, &named)) {
        run_command(eval->session, command, &named, 1, false, value);
        return true;
    }
    good = command->takes_call ? eval_called(eval, node, &arguments, &count)
                               : eval_arguments(eval, node, &arguments);
    if (good)
        run_command(eval->session, command, arguments, count, false, value);
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
    case NODE_INDEX:
        return eval_index(eval, node, value);
    case NODE_ASSIGN:
        if (!eval_node(eval, node->items[0], value))
            return false;
        variables_set(&eval->session->variables, node->name, value);
        return true;
    case NODE_ARRAY:
        *value = (struct value){.kind = VALUE_ARRAY, .count = node->count};
        return eval_items(eval, node, &value->as.items);
    case NODE_HASH: {
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
    case NODE_BLOCK: /* stands in a call only */
        break;
    }
    return false;
}

static void
show_echo(struct session *session, const struct value *value)
{
    if (value->kind == VALUE_NIL || format_is_on(&session->output.format))
        return;
    text_clear(&session->scratch);
    text_add_string(&session->scratch, "=> ");
    value_inspect(&session->scratch, value);
    output_join(&session->output);
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
        good = false;
        count = 0;
    }
    session->interrupted = false;
    for (size_t i = 0; i < count && good && !eval_is_over(&eval); i++)
        good = eval_node(&eval, statements[i], &value);
    if (good && !eval_is_over(&eval))
        show_echo(session, &value);
    output_finish(&session->output);
    output_flush(&session->output);
    lexer_clear(lexer);
    arena_clear(&session->arena);
}
