/*
 * eval.c -- see tools/shell/eval/eval.h.
 *
 * A command that fails shows an ERROR block, and the next one of its line is run.  A name that
 * means nothing ends its line.  The echo shows the value of the last expression of an input, unless
 * it is nil.
 */
#include "tools/shell/eval/eval.h"

#include "tools/shell/eval/eval_state.h"
#include "tools/shell/eval/function.h"
#include "tools/shell/eval/index.h"
#include "tools/shell/eval/java.h"
#include "tools/shell/eval/method.h"
#include "tools/shell/eval/operator.h"
#include "tools/shell/language/value_hash.h"
#include "tools/shell/session/near.h"
#include "tools/shell/session/run.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { GREATEST_EVAL_DEPTH = 1100 }; /* of nodes within nodes; a frame or two each */
enum { MOST_PUSHED = 1000 };         /* by one push; run_push has more refused */

/* Names that stand for themselves, so that hash keys need no quotes; a blank before and behind
 * each. */
static const char constants[] =
    " ALLOW_PARTIAL_RESULTS ALL_METRICS ALL_VERSIONS ATTRIBUTES AUTHORIZATIONS BATCH BLOCKCACHE "
    "BLOCKSIZE BLOOMFILTER BLOOMFILTER_KIND BLOOM_RATE_PER_FILE CACHE CACHE_BLOCKS "
    "CACHE_BLOOMS_ON_WRITE "
    "CACHE_DATA_ON_WRITE CACHE_INDEX_ON_WRITE CLASSNAME CLONE_SFT CLUSTER CLUSTER_KEY CODEC COLUMN "
    "COLUMNS COMPACTION_ENABLED COMPRESSION COMPRESSION_COMPACT COMPRESSION_COMPACT_MAJOR "
    "COMPRESSION_COMPACT_MINOR COMPRESS_TAGS CONFIG CONFIGURATION CONSISTENCY COUNTERS CREATE DATA "
    "DATA_BLOCK_ENCODING DFS_REPLICATION DISABLE DROP_EDITS DROP_TAGS DURABILITY ENCODING "
    "ENCRYPTION "
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
    "REVERSED ROW ROWPREFIXFILTER ROW_NUMBER ROW_SEPARATOR SAMPLE SCOPE SERIAL SERVER_NAME "
    "SKIP_FIELDS SKIP_FLUSH SPACE "
    "SPLITALGO SPLITS SPLITS_FILE SPLIT_ENABLED SPLIT_POLICY SPLIT_SIZE STARTROW STATE STOPROW "
    "STORAGE_POLICY TABLE TABLE_CFS THREADS THROTTLE THROTTLE_TYPE TIMERANGE TIMESTAMP TTL TYPE "
    "USER VALUE VERSIONS VISIBILITY VISIBLE WITHOUT WRITE ";

static const struct {
    const char *name, *meaning;
} constant_aliases[] = {{"ENDKEY", "STOPROW"}, {"ENDROW", "STOPROW"}, {"STARTKEY", "STARTROW"}};

static struct place
place_at(const struct eval *eval, size_t position)
{
    return (struct place){text_slice(eval->input), position, eval->line, 0};
}

/* The input's mistake at a position. */
static void
show_mistake(struct eval *eval, const char *kind, size_t position, const char *message)
{
    struct place place = place_at(eval, position);

    run_mistake(eval->session, &place, kind, message);
}

bool
eval_fail(struct eval *eval, size_t position, const struct complaint *complaint)
{
    if (complaint->kind != NULL)
        show_mistake(eval, complaint->kind, position, complaint->text);
    return false;
}

bool
eval_may_keep(struct eval *eval, size_t position, const struct value *value)
{
    struct complaint complaint;

    return operator_may_keep(value, 0, &complaint) || eval_fail(eval, position, &complaint);
}

/* Set the variable to the value if it may have it. */
static bool
keep(struct eval *eval, size_t position, petal_slice variable, const struct value *value)
{
    if (!eval_may_keep(eval, position, value))
        return false;
    variables_set(&eval->session->variables, variable, value);
    return true;
}

bool
eval_fail_name(struct eval *eval, const struct node *node, const char *what)
{
    bool command = node->kind == NODE_CALL && node->receiver == NULL;
    const char *instead = command ? command_in_place_of(node->name) : NULL;
    const char *nearest = command ? command_nearest(eval->session, node->name) : NULL;
    struct complaint complaint;

    if (instead != NULL)
        (void)complain(&complaint, "NameError", "%s '%.*s'; %s", what, SLICE_UP_TO(200, node->name),
                       instead);
    else
        (void)complain(&complaint, "NameError", "%s '%.*s'%s%s%s", what,
                       SLICE_UP_TO(200, node->name), nearest != NULL ? "; did you mean '" : "",
                       nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    return eval_fail(eval, node->position, &complaint);
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

/* What the shell knows in capital letters, or a class of Java's, whatever is near. */
static bool
fail_constant(struct eval *eval, const struct node *node, struct complaint *complaint)
{
    petal_slice nearest = {NULL, 0};
    bool capitals = true;
    unsigned least = 0;

    for (size_t i = 0; i < node->name.size; i++)
        capitals = capitals && !(((const char *)node->name.data)[i] >= 'a' &&
                                 ((const char *)node->name.data)[i] <= 'z');
    for (const char *at = constants + 1; *at != '\0';) {
        size_t size = strcspn(at, " ");

        near_consider_bytes(node->name, (petal_slice){at, size}, &nearest, &least);
        at += size + 1;
    }
    if (capitals || (nearest.data != NULL && least == 0))
        (void)complain(complaint, "NameError", "unknown constant '%.*s'%s%.*s%s",
                       SLICE_UP_TO(200, node->name), nearest.data != NULL ? "; did you mean " : "",
                       SLICE(nearest), nearest.data != NULL ? "?" : "");
    return eval_fail(eval, node->position, complaint);
}

/* A class of Java's, by its name alone: nobody must import what there is. */
static bool
eval_class(struct eval *eval, const struct node *node, struct value *value)
{
    struct complaint complaint = {.kind = NULL};

    return java_class(&eval->session->arena, node->name, value, &complaint) ||
           fail_constant(eval, node, &complaint);
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
    return eval_class(eval, node, value);
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

bool
eval_is_over(const struct eval *eval)
{
    return eval->session->ended || eval->session->interrupted;
}

/* The name of the variable that the node is, of no bytes if it is none; of `a << b` it is a's. */
static petal_slice
variable_of(const struct eval *eval, const struct node *node)
{
    bool named;

    while (node->kind == NODE_OPERATOR && slice_is(node->name, "<<"))
        node = node->items[0];
    named = node->kind == NODE_CONSTANT ||
            (node->kind == NODE_CALL && node->bare && node->receiver == NULL);

    if (!named || variables_get(&eval->session->variables, node->name) == NULL)
        return (petal_slice){"", 0};
    return node->name;
}

static bool
is_variable(const struct eval *eval, const struct node *node)
{
    return node->kind != NODE_OPERATOR && variable_of(eval, node).size > 0;
}

/* Is it list.push(..) or list.add(.)? */
static bool
is_push(const struct node *node)
{
    if (node->kind != NODE_CALL || node->receiver == NULL || node->block != NULL)
        return false;
    return slice_is(node->name, "add")
               ? node->count == 1
               : slice_is(node->name, "push") && node->count >= 1 && node->count <= MOST_PUSHED;
}

static bool
is_append(const struct node *node)
{
    return node->kind == NODE_OPERATOR && node->count == 2 && slice_is(node->name, "<<");
}

/* Does evaluating it leave the lists, hashes and texts of all variables as they are? */
static bool
is_steady(const struct node *node)
{
    if (node->kind == NODE_ASSIGN || node->kind == NODE_WHILE || node->kind == NODE_FOR ||
        node->kind == NODE_JUMP || node->block != NULL || is_push(node) || is_append(node) ||
        (node->receiver != NULL && !is_steady(node->receiver)))
        return false;
    for (size_t i = 0; i < node->count; i++)
        if (!is_steady(node->items[i]))
            return false;
    return true;
}

/* ---- Variables that grow --------------------------------------------------------------------- */

/* What is added, and to what. */
struct growth {
    const struct node *to;
    struct node *const *added;
    size_t count;
};

/* Of `to << value`, to.push(value, ..) and to.add(value); false: the node is none of them. */
static bool
find_growth(const struct node *node, struct growth *growth)
{
    if (is_append(node))
        *growth = (struct growth){node->items[0], node->items + 1, 1};
    else if (is_push(node))
        *growth = (struct growth){node->receiver, node->items, node->count};
    else
        return false;
    return true;
}

/* Is a variable's list or text all that it changes?  Then that is done in its place. */
static bool
grows_variable(const struct eval *eval, const struct node *node)
{
    const struct value *value;
    struct growth growth;
    petal_slice name;

    if (!find_growth(node, &growth))
        return false;
    name = variable_of(eval, growth.to);
    value = name.size > 0 ? variables_get(&eval->session->variables, name) : NULL;
    if (value == NULL ||
        (value->kind != VALUE_ARRAY && (value->kind != VALUE_STRING || is_push(node))))
        return false;
    for (size_t i = 0; i < growth.count; i++)
        if (!is_steady(growth.added[i]))
            return false;
    return is_variable(eval, growth.to) || grows_variable(eval, growth.to);
}

static bool
eval_growth(struct eval *eval, const struct node *node, struct value *value)
{
    struct variables *variables = &eval->session->variables;
    struct arena *arena = &eval->session->arena;
    struct complaint complaint = {.kind = NULL};
    struct value *added;
    struct growth growth;
    petal_slice name;
    bool good = true;

    (void)find_growth(node, &growth);
    name = variable_of(eval, growth.to);
    if (!is_variable(eval, growth.to) && !eval_node(eval, growth.to, NULL))
        return false;
    added = arena_allocate(arena, growth.count * sizeof(*added));
    eval->calls += is_push(node);
    for (size_t i = 0; i < growth.count && good; i++)
        good = eval_node(eval, growth.added[i], &added[i]);
    eval->calls -= is_push(node);
    if (!good)
        return false;
    if (!operator_may_append(variables_get(variables, name), added, growth.count, &complaint))
        return eval_fail(eval, node->position, &complaint);
    for (size_t i = 0; i < growth.count; i++)
        variables_append(variables, name, &added[i]);
    if (value != NULL)
        *value = value_copy(arena, variables_get(variables, name));
    return true;
}

/* ---- Methods and items ----------------------------------------------------------------------- */

/* The variable that a method only looks at, so that it needs no copy; NULL: it must have one. */
static const struct value *
lent_receiver(const struct eval *eval, const struct node *node)
{
    const struct value *lent;

    if (!is_variable(eval, node->receiver) || !is_steady(node))
        return NULL;
    lent = variables_get(&eval->session->variables, node->receiver->name);
    if (lent->kind != VALUE_STRING && lent->kind != VALUE_ARRAY && lent->kind != VALUE_HASH)
        return NULL;
    return loop_is_method(node->name, lent) ? NULL : lent;
}

static bool
eval_method(struct eval *eval, const struct node *node, struct value *value)
{
    petal_slice variable = variable_of(eval, node->receiver);
    const struct value *lent = lent_receiver(eval, node);
    struct value receiver, *arguments;
    struct call call;
    double begin;
    bool good;

    if (lent != NULL)
        receiver = *lent;
    else if (!eval_node(eval, node->receiver, &receiver))
        return false;
    if (!eval_arguments(eval, node, &arguments))
        return false;
    call = (struct call){.session = eval->session,
                         .name = node->name,
                         .receiver = &receiver,
                         .arguments = arguments,
                         .count = node->count,
                         .value = value};
    *value = value_nil();
    if (loop_is_method(node->name, &receiver)) {
        begin = run_begin_loop(eval->session);
        good = loop_over(eval, node, &call);
        run_end_loop(eval->session, begin);
        return good;
    }
    if (node->block != NULL)
        return eval_fail_name(eval, node, "unknown method with a block");
    eval->session->place = place_at(eval, node->position);
    if (!method_call(&call))
        return eval_fail(eval, node->position, &call.complaint);
    assert(lent == NULL || !call.changed);
    if (lent != NULL)
        *value = value_copy(&eval->session->arena, value);
    return !call.changed || variable.size == 0 || keep(eval, node->position, variable, &receiver);
}

/* Of a variable only the item is copied, unless its place may set the variable anew. */
static bool
eval_index(struct eval *eval, const struct node *node, struct value *value)
{
    struct arena *arena = &eval->session->arena;
    const struct value *lent = NULL;
    struct value receiver, index, length = value_nil();
    struct complaint complaint = {.kind = NULL};

    if (is_variable(eval, node->receiver) && is_steady(node))
        lent = variables_get(&eval->session->variables, node->receiver->name);
    else if (!eval_node(eval, node->receiver, &receiver))
        return false;
    if (!eval_node(eval, node->items[0], &index) ||
        (node->count == 2 && !eval_node(eval, node->items[1], &length)))
        return false;
    if (!index_get(arena, lent != NULL ? lent : &receiver, &index, &length, value, &complaint))
        return eval_fail(eval, node->position, &complaint);
    if (lent != NULL)
        *value = value_copy(arena, value);
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
eval_function(struct eval *eval, const struct node *node, struct value *value)
{
    struct value *arguments = NULL;
    struct call call = {
        .session = eval->session, .name = node->name, .count = node->count, .value = value};

    /* Arguments are commands that would run, so the name is looked at first. */
    if (!function_is_known(node->name))
        return node->bare && eval->calls > 0 ? fail_word(eval, node)
                                             : eval_fail_name(eval, node, "unknown command");
    if (!eval_arguments(eval, node, &arguments))
        return false;
    call.arguments = arguments;
    eval->session->place = place_at(eval, node->position);
    return function_call(&call) || eval_fail(eval, node->position, &call.complaint);
}

/* import org.apache.hadoop.hbase.filter.PrefixFilter, java_import 'java.util.Date', include Java:
 * classes are known without, so only their names are looked at. */
static bool
is_import(const struct node *node)
{
    bool java = slice_is(node->name, "java_import") || slice_is(node->name, "include_class") ||
                slice_is(node->name, "include");

    return (java || slice_is(node->name, "import")) && node->count == 1 &&
           (java || node->items[0]->kind == NODE_CLASS || node->items[0]->kind == NODE_SCOPE);
}

static bool
eval_import(struct eval *eval, const struct node *node, struct value *value)
{
    struct complaint complaint = {.kind = NULL};
    struct value class;

    if (slice_is(node->name, "include"))
        return true; /* include Java */
    if (!eval_node(eval, node->items[0], &class))
        return false;
    if (class.kind == VALUE_STRING &&
        !java_class(&eval->session->arena, class.as.bytes, &class, &complaint))
        return eval_fail(eval, node->items[0]->position, &complaint);
    *value = (struct value){.kind = VALUE_ARRAY, .count = 1};
    value->as.items = arena_copy(&eval->session->arena, &class, sizeof(class));
    return true;
}

static bool
eval_loop(struct eval *eval, const struct node *node, struct value *value)
{
    double begin = run_begin_loop(eval->session);
    bool good = node->kind == NODE_WHILE ? loop_while(eval, node, value)
                : node->kind == NODE_FOR ? loop_for(eval, node, value)
                                         : loop_forever(eval, node);

    run_end_loop(eval->session, begin);
    return good;
}

/* Where one of the call's arguments, or an item of one, is several strings side by side in one line;
 * 0: nowhere. */
static size_t
missing_comma(const struct eval *eval, const struct node *node, const struct node **argument)
{
    const char *input = text_string(eval->input);

    for (size_t i = 0; i < node->count; i++) {
        const struct node *item = node->items[i];
        size_t at = item->joined;

        if (item->kind == NODE_ARRAY || item->kind == NODE_HASH) {
            at = missing_comma(eval, item, argument);
            if (at > 0)
                return at;
        }
        while (at > 0 && (input[at - 1] == ' ' || input[at - 1] == '\t'))
            at--;
        if (at == 0 || input[at - 1] == '\n') /* after a backslash */
            continue;
        *argument = item;
        return item->joined;
    }
    return 0;
}

static void
note_missing_comma(struct session *session, const struct node *argument)
{
    struct text line = {0};

    text_add_string(&line, "kv-shell: strings side by side are one text");
    if (argument->kind == NODE_LITERAL) {
        text_add_string(&line, ", ");
        text_add_literal(&line, argument->value.as.bytes);
    }
    text_add_string(&line, ": is a comma missing?\n");
    session_note(session, &line);
    text_free(&line);
}

/* Of `time get 't' 'r'` the call of get, and of `count` arguments those that get was given. */
static const struct node *
innermost_call(const struct eval *eval, const struct node *node, const struct command **command,
               size_t *count)
{
    while ((*command)->takes_call && *count > 0) {
        const struct command *called = command_find(eval->session, node->items[0]->name);

        if (called == NULL)
            break;
        node = node->items[0];
        *command = called;
        --*count;
    }
    return node;
}

/* Find where the call lacks a comma between two strings: a failure will show it if there are too
 * few arguments, a note tells it otherwise. */
static void
look_for_missing_comma(struct eval *eval, const struct node *node, const struct command *command,
                       size_t count)
{
    const struct node *call = innermost_call(eval, node, &command, &count), *joined = NULL;

    eval->session->place.comma = missing_comma(eval, call, &joined);
    if (joined != NULL && count >= command->least)
        note_missing_comma(eval->session, joined);
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
    if (node->block != NULL)
        return slice_is(node->name, "loop") && node->count == 0
                   ? eval_loop(eval, node, value)
                   : eval_fail_name(eval, node, "no block can stand behind");
    if (is_import(node))
        return eval_import(eval, node, value);
    if (command == NULL)
        return eval_function(eval, node, value);
    if (is_help(node, &named)) {
        run_command(eval->session, command, &named, 1, false, value);
        return true;
    }
    good = command->takes_call ? eval_called(eval, node, &arguments, &count)
                               : eval_arguments(eval, node, &arguments);
    if (!good)
        return false;
    eval->session->place = place_at(eval, node->position);
    look_for_missing_comma(eval, node, command, count);
    run_command(eval->session, command, arguments, count, false, value);
    return true;
}

/* ---- Expressions ----------------------------------------------------------------------------- */

/* Its pieces put together; statements between #{ and } give their last one's value. */
static bool
eval_string(struct eval *eval, const struct node *node, struct value *value)
{
    struct complaint complaint;
    struct text text = {0};
    bool good = true;

    for (size_t i = 0; i < node->count && good; i++) {
        struct value piece = value_nil();

        good = eval_node(eval, node->items[i], &piece);
        if (good)
            value_to_text(&text, &piece);
        if (good && text.size > MOST_BYTES) {
            (void)complain(&complaint, "ArgumentError", "a text has at most 64 MB");
            good = eval_fail(eval, node->position, &complaint);
        }
    }
    *value = value_string_copy(&eval->session->arena, text_slice(&text));
    text_free(&text);
    return good;
}

/* `&&` and `||` look at their second operand only where the first does not decide. */
static bool
eval_logic(struct eval *eval, const struct node *node, struct value *value)
{
    const struct node *left = node->items[0];

    *value = value_nil();
    /* `name ||= value` where the name is no variable yet. */
    if (!(node->bare && variable_of(eval, left).size == 0) && !eval_node(eval, left, value))
        return false;
    return value_is_true(value) == slice_is(node->name, "||") ||
           eval_node(eval, node->items[1], value);
}

static bool
eval_operator(struct eval *eval, const struct node *node, struct value *value)
{
    struct complaint complaint = {.kind = NULL};
    struct value left, right;
    petal_slice variable;

    if (slice_is(node->name, "&&") || slice_is(node->name, "||"))
        return eval_logic(eval, node, value);
    if (!eval_node(eval, node->items[0], &left))
        return false;
    if (node->count == 1) {
        if (slice_is(node->name, "-"))
            return operator_negate(&left, value, &complaint) ||
                   eval_fail(eval, node->position, &complaint);
        *value = value_boolean(!value_is_true(&left));
        return true;
    }
    if (!eval_node(eval, node->items[1], &right))
        return false;
    if (!operator_apply(&eval->session->arena, node->name, &left, &right, value, &complaint))
        return eval_fail(eval, node->position, &complaint);
    variable = variable_of(eval, node->items[0]);
    return !slice_is(node->name, "<<") || left.kind == VALUE_INTEGER || variable.size == 0 ||
           keep(eval, node->position, variable, value);
}

/* `name = value`, `name[index] = value`. */
static bool
eval_assign(struct eval *eval, const struct node *node, struct value *value)
{
    const struct node *place = node->receiver;
    struct complaint complaint = {.kind = NULL};
    struct value index, changed;
    petal_slice variable;

    if (!eval_node(eval, node->items[0], value))
        return false;
    if (place == NULL)
        return keep(eval, node->position, node->name, value);
    variable = variable_of(eval, place->receiver);
    if (variable.size == 0) {
        (void)complain(&complaint, "NameError", "only an item of a variable can be set");
        return eval_fail(eval, node->position, &complaint);
    }
    if (is_steady(place)) {
        if (!eval_node(eval, place->items[0], &index))
            return false;
    } else {
        if (!eval_node(eval, place->receiver, &changed) ||
            !eval_node(eval, place->items[0], &index))
            return false;
        variables_set(&eval->session->variables, variable, &changed);
    }
    return index_set(&eval->session->variables, variable, &index, value, &complaint) ||
           eval_fail(eval, node->position, &complaint);
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

static bool
eval_if(struct eval *eval, const struct node *node, struct value *value)
{
    struct value condition;

    if (!eval_node(eval, node->items[0], &condition))
        return false;
    if (value != NULL)
        *value = value_nil();
    if (value_is_true(&condition))
        return eval_node(eval, node->items[1], value);
    return node->count < 3 || eval_node(eval, node->items[2], value);
}

/* org.apache.hadoop.hbase.filter.PrefixFilter, CompareOperator::EQUAL. */
static bool
eval_scope(struct eval *eval, const struct node *node, struct value *value)
{
    struct complaint complaint = {.kind = NULL};
    struct value class;

    if (node->kind == NODE_CLASS)
        return java_class(&eval->session->arena, node->name, value, &complaint) ||
               eval_fail(eval, node->position, &complaint);
    if (!eval_node(eval, node->receiver, &class))
        return false;
    return java_constant(&eval->session->arena, &class, node->name, value, &complaint) ||
           eval_fail(eval, node->position, &complaint);
}

static bool
eval_kind(struct eval *eval, const struct node *node, struct value *value)
{
    struct value unwanted;

    if (grows_variable(eval, node))
        return eval_growth(eval, node, value);
    if (value == NULL && node->kind != NODE_BLOCK && node->kind != NODE_IF)
        value = &unwanted;
    switch (node->kind) {
    case NODE_LITERAL:
        *value = node->value;
        return true;
    case NODE_STRING:
        return eval_string(eval, node, value);
    case NODE_CONSTANT:
        return eval_constant(eval, node, value);
    case NODE_CLASS:
    case NODE_SCOPE:
        return eval_scope(eval, node, value);
    case NODE_CALL:
        return eval_call(eval, node, value);
    case NODE_INDEX:
        return eval_index(eval, node, value);
    case NODE_ASSIGN:
        return eval_assign(eval, node, value);
    case NODE_OPERATOR:
        return eval_operator(eval, node, value);
    case NODE_ARRAY:
        *value = (struct value){.kind = VALUE_ARRAY, .count = node->count};
        return eval_items(eval, node, &value->as.items);
    case NODE_HASH:
        return eval_hash(eval, node, value);
    case NODE_BLOCK:
        return eval_statements(eval, node, value);
    case NODE_IF:
        return eval_if(eval, node, value);
    case NODE_WHILE:
    case NODE_FOR:
        return eval_loop(eval, node, value);
    case NODE_JUMP:
        eval->jump = slice_is(node->name, "break") ? JUMP_BREAK : JUMP_NEXT;
        return false;
    }
    return false;
}

bool
eval_node(struct eval *eval, const struct node *node, struct value *value)
{
    struct complaint complaint;
    bool good;

    if (eval->depth == GREATEST_EVAL_DEPTH) {
        (void)complain(&complaint, "SyntaxError", "nested too deeply");
        return eval_fail(eval, node->position, &complaint);
    }
    eval->depth++;
    good = eval_kind(eval, node, value);
    eval->depth--;
    return good;
}

bool
eval_statements(struct eval *eval, const struct node *block, struct value *value)
{
    unsigned calls = eval->calls;
    bool good = true;

    if (value != NULL)
        *value = value_nil();
    eval->calls = 0;
    for (size_t i = 0; i < block->count && good; i++)
        good = eval_node(eval, block->items[i], i + 1 < block->count ? NULL : value) &&
               !eval_is_over(eval);
    eval->calls = calls;
    return good;
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

static void
show_interrupted(struct session *session, uint64_t round)
{
    text_clear(&session->scratch);
    text_add_format(&session->scratch, "Interrupted in round %" PRIu64 " of the loop", round);
    output_error(&session->output, text_slice(&session->scratch));
}

/* Sentences of SQL have another grammar: if the first or second word is one of theirs, and no
 * variable, say what to type in its place. */
static void
show_syntax_error(struct eval *eval, const struct syntax_error *error)
{
    const char *letters = text_string(eval->input), *instead = NULL;
    struct text message = {0};
    petal_slice word;
    size_t begin, end = 0;

    for (int i = 0; i < 2 && instead == NULL; i++) {
        begin = end + strspn(letters + end, " \t\n");
        for (end = begin; (letters[end] | 0x20) >= 'a' && (letters[end] | 0x20) <= 'z';)
            end++;
        word = (petal_slice){letters + begin, end - begin};
        if (variables_get(&eval->session->variables, word) == NULL)
            instead = command_in_place_of(word);
    }
    if (instead == NULL) {
        show_mistake(eval, "SyntaxError", error->position, error->message);
        return;
    }
    text_add_format(&message, "unknown command '%.*s'; %s", SLICE(word), instead);
    show_mistake(eval, "NameError", begin, text_string(&message));
    text_free(&message);
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
        !parser_parse(lexer, &session->variables, &session->arena, &statements, &count,
                      &lexer->error)) {
        show_syntax_error(&eval, &lexer->error);
        good = false;
        count = 0;
    }
    session->interrupted = false;
    for (size_t i = 0; i < count && good && !eval_is_over(&eval); i++)
        good = eval_node(&eval, statements[i], i + 1 < count ? NULL : &value);
    if (good && !eval_is_over(&eval))
        show_echo(session, &value);
    if (eval.rounds_of_interrupted > 0)
        show_interrupted(session, eval.rounds_of_interrupted);
    output_finish(&session->output);
    output_flush(&session->output);
    lexer_clear(lexer);
    arena_clear(&session->arena);
}
