/* parser_values.c -- literals, arrays, hashes, names, calls and what stands behind them; see
 * tools/shell/language/parser.h. */
#include "tools/shell/language/parser_state.h"

#include <string.h>

static struct node *
new_literal(struct parser *parser, struct value value)
{
    struct node *node = new_node(parser, NODE_LITERAL);

    node->value = value;
    parser->token++;
    return node;
}

/* ---- Strings --------------------------------------------------------------------------------- */

static void
append(struct parser *parser, petal_slice *bytes, petal_slice more)
{
    char *joined = arena_allocate(parser->arena, bytes->size + more.size);

    if (bytes->size > 0)
        memcpy(joined, bytes->data, bytes->size);
    if (more.size > 0)
        memcpy(joined + bytes->size, more.data, more.size);
    *bytes = (petal_slice){joined, bytes->size + more.size};
}

/* Two strings side by side are one. */
static struct node *
parse_string(struct parser *parser)
{
    struct node *node = new_node(parser, NODE_STRING), *literal = NULL;
    struct node_list list = {0};
    bool whole = false; /* the token before was the end of a string */

    while (parser->token->kind == TOKEN_STRING || parser->token->kind == TOKEN_PIECE) {
        bool piece = parser->token->kind == TOKEN_PIECE;

        if (whole && node->joined == 0)
            node->joined = parser->token->begin;
        whole = !piece;
        if (literal == NULL) {
            literal = new_literal(parser, value_string(parser->token->text));
            list_add(parser, &list, literal);
        } else {
            append(parser, &literal->value.as.bytes, parser->token++->text);
        }
        if (piece) {
            struct node *inner = parse_braced(parser, new_node(parser, NODE_BLOCK));

            if (inner == NULL)
                return NULL;
            list_add(parser, &list, inner);
            literal = NULL;
        }
    }
    if (list.count == 1) {
        list.items[0]->joined = node->joined;
        return list.items[0];
    }
    node->items = list.items;
    node->count = list.count;
    return node;
}

/* ---- Arrays, hashes, arguments --------------------------------------------------------------- */

/* Read `key => value` behind a key that was read, or `label: value`; add both to the list. */
static bool
parse_pair(struct parser *parser, struct node *key, struct node_list *list)
{
    struct node *value;

    if (key == NULL) {
        struct value symbol = {.kind = VALUE_SYMBOL, .as.bytes = parser->token->text};

        key = new_literal(parser, symbol);
    } else if (!take(parser, "=>")) {
        (void)unexpected(parser, ", expected '=>'");
        return false;
    }
    value = parse_expression(parser);
    if (value == NULL)
        return false;
    list_add(parser, list, key);
    list_add(parser, list, value);
    return true;
}

static struct node *
parse_hash(struct parser *parser)
{
    struct node *node = new_node(parser, NODE_HASH);
    struct node_list list = {0};

    parser->token++;
    while (!take(parser, "}")) {
        struct node *key = NULL;

        if (parser->token->kind != TOKEN_LABEL && (key = parse_expression(parser)) == NULL)
            return NULL;
        if (!parse_pair(parser, key, &list))
            return NULL;
        if (!take(parser, ",") && !at(parser, "}"))
            return unexpected(parser, ", expected ',' or '}'");
    }
    node->items = list.items;
    node->count = list.count;
    return node;
}

static struct node *
parse_array(struct parser *parser)
{
    struct node *node = new_node(parser, NODE_ARRAY);
    struct node_list list = {0};

    parser->token++;
    while (!take(parser, "]")) {
        struct node *item = parse_expression(parser);

        if (item == NULL)
            return NULL;
        list_add(parser, &list, item);
        if (!take(parser, ",") && !at(parser, "]"))
            return unexpected(parser, ", expected ',' or ']'");
    }
    node->items = list.items;
    node->count = list.count;
    return node;
}

/* map(&:size) is map { |item| item.size }. */
static struct node *
parse_method_as_block(struct parser *parser)
{
    static petal_slice item = {"item", 4};
    struct node *call = new_node(parser, NODE_CALL), *receiver = new_node(parser, NODE_CALL);
    struct node *block = block_of(parser, call);

    parser->token++;
    if (parser->token->kind != TOKEN_SYMBOL)
        return unexpected(parser, ", expected ':' and a method's name behind '&'");
    receiver->name = item;
    receiver->bare = true;
    call->name = parser->token++->text;
    call->receiver = receiver;
    block->names = &item;
    block->name_count = 1;
    return block;
}

/* Does the token at hand begin an argument of a call without parentheses?  Behind a
 * variable's name what could be an operator is one. */
static bool
starts_argument(const struct parser *parser, bool behind_variable)
{
    const struct token *token = parser->token;

    switch (token->kind) {
    case TOKEN_STRING:
    case TOKEN_PIECE:
    case TOKEN_SYMBOL:
    case TOKEN_LABEL:
    case TOKEN_CONSTANT:
        return true;
    case TOKEN_INTEGER:
    case TOKEN_FLOAT:
        return !behind_variable || !token->has_sign;
    case TOKEN_NAME:
        return !keyword_follows(token->text);
    case TOKEN_OPERATOR:
        if (!token->blank_before || behind_variable)
            return false;
        return at(parser, "[") || at(parser, "(") || (at(parser, "{") && !token->begins_block) ||
               (at(parser, "!") && token[1].begin == token->end) ||
               (at(parser, "-") && token[1].begin == token->end);
    case TOKEN_END:
    case TOKEN_SEPARATOR:
        break;
    }
    return false;
}

/*
 * Read arguments up to `closing`, or to the end of the command when that is NULL.  Pairs are
 * gathered in one hash, the last argument.
 */
static bool
parse_arguments(struct parser *parser, const char *closing, struct node *call)
{
    struct node_list arguments = {0}, pairs = {0};
    struct node *hash = NULL;

    do {
        struct node *argument = NULL;

        if (closing != NULL && at(parser, closing))
            break;
        if (at(parser, "&")) {
            if ((call->block = parse_method_as_block(parser)) == NULL)
                return false;
            break;
        }
        if (hash == NULL)
            hash = new_node(parser, NODE_HASH);
        if (pairs.count == 0)
            hash->position = parser->token->begin;
        if (parser->token->kind != TOKEN_LABEL && (argument = parse_expression(parser)) == NULL)
            return false;
        if (argument == NULL || at(parser, "=>") || pairs.count > 0) {
            if (!parse_pair(parser, argument, &pairs))
                return false;
        } else {
            list_add(parser, &arguments, argument);
        }
    } while (take(parser, ","));

    if (closing == NULL && starts_argument(parser, false)) {
        (void)unexpected(parser, "; is a comma missing before it?");
        return false;
    }
    if (closing != NULL && !take(parser, closing)) {
        (void)unexpected(parser, ", expected ',' or ')'");
        return false;
    }
    if (pairs.count > 0) {
        hash->items = pairs.items;
        hash->count = pairs.count;
        list_add(parser, &arguments, hash);
    }
    call->items = arguments.items;
    call->count = arguments.count;
    return true;
}

/* ---- Calls and names ------------------------------------------------------------------------- */

/* At a name that is a command or a method: the call with its arguments. */
static struct node *
parse_call(struct parser *parser, struct node *receiver)
{
    struct node *node = new_node(parser, NODE_CALL);
    bool variable = receiver == NULL && is_variable(parser, parser->token->text);
    bool keeps_do = parser->keeps_do, good = true;

    node->receiver = receiver;
    node->name = parser->token->text;
    parser->token++;
    if (at(parser, "(") && !parser->token->blank_before) {
        parser->token++;
        parser->keeps_do = false;
        good = parse_arguments(parser, ")", node);
        parser->keeps_do = keeps_do;
    } else if (starts_argument(parser, variable)) {
        good = parse_arguments(parser, NULL, node);
    } else {
        node->bare = true;
    }
    if (good && starts_block(parser) && !variable) {
        node->bare = false;
        node->block = parse_block(parser);
        good = node->block != NULL;
    }
    return good ? node : NULL;
}

/* What Ruby has and the shell has not. */
static struct node *
refuse_keyword(struct parser *parser)
{
    syntax_error_set(parser->error, parser->token->begin,
                     "'%.*s' is of Ruby, not of this shell; help 'loops' shows what there is",
                     SLICE_UP_TO(40, parser->token->text));
    return NULL;
}

static bool
is_refused(petal_slice name)
{
    static const char *const keywords[] = {"def",   "class",  "module", "begin",   "case",
                                           "when",  "rescue", "ensure", "yield",   "return",
                                           "redo",  "retry",  "super",  "self",    "undef",
                                           "alias", "lambda", "proc",   "defined?"};

    for (size_t i = 0; i < COUNT_OF(keywords); i++)
        if (slice_is(name, keywords[i]))
            return true;
    return false;
}

/* Does `org.apache` stand here, or another package of Java's? */
static bool
starts_package(const struct parser *parser)
{
    static const char *const roots[] = {"org", "java", "javax", "com"};
    const struct token *next = parser->token + 1;

    for (size_t i = 0; i < COUNT_OF(roots); i++)
        if (slice_is(parser->token->text, roots[i]))
            return next->kind == TOKEN_OPERATOR && slice_is(next->text, ".") &&
                   !is_variable(parser, parser->token->text);
    return false;
}

/* org.apache.hadoop.hbase.filter.PrefixFilter, up to the class. */
static struct node *
parse_class(struct parser *parser)
{
    struct node *node = new_node(parser, NODE_CLASS);
    bool class = false;

    append(parser, &node->name, parser->token++->text);
    while (!class && take(parser, ".")) {
        class = parser->token->kind == TOKEN_CONSTANT;
        if (!class && parser->token->kind != TOKEN_NAME)
            return unexpected(parser, ", expected a package or a class of Java's");
        append(parser, &node->name, slice_of_string("."));
        append(parser, &node->name, parser->token++->text);
    }
    return class ? node : unexpected(parser, ", expected '.' and a class of Java's");
}

static struct node *
parse_name(struct parser *parser)
{
    petal_slice name = parser->token->text;

    if (slice_is(name, "nil"))
        return new_literal(parser, value_nil());
    if (slice_is(name, "true") || slice_is(name, "false"))
        return new_literal(parser, value_boolean(slice_is(name, "true")));
    if (slice_is(name, "if") || slice_is(name, "unless") || slice_is(name, "while") ||
        slice_is(name, "until") || slice_is(name, "for"))
        return parse_control(parser);
    if (slice_is(name, "break") || slice_is(name, "next")) {
        struct node *node = new_node(parser, NODE_JUMP);

        if (parser->loops == 0)
            return unexpected(parser, ", which stands in a loop only");
        node->name = name;
        parser->token++;
        return node;
    }
    if (is_refused(name))
        return refuse_keyword(parser);
    if (keyword_follows(name))
        return unexpected(parser, "");
    if (starts_package(parser))
        return parse_class(parser);
    return parse_call(parser, NULL);
}

static struct node *
parse_constant(struct parser *parser)
{
    const struct token *next = parser->token + 1;
    struct node *node;

    if (next->kind == TOKEN_STRING || next->kind == TOKEN_PIECE ||
        (next->kind == TOKEN_OPERATOR && slice_is(next->text, "(") && !next->blank_before))
        return parse_call(parser, NULL);
    node = new_node(parser, NODE_CONSTANT);
    node->name = parser->token->text;
    parser->token++;
    return node;
}

/* ( statements ): the last one's value. */
static struct node *
parse_group(struct parser *parser)
{
    struct node *block = new_node(parser, NODE_BLOCK);
    struct node_list list = {0};
    bool keeps_do = parser->keeps_do;

    parser->token++;
    parser->keeps_do = false;
    do {
        struct node *statement;

        while (parser->token->kind == TOKEN_SEPARATOR)
            parser->token++;
        if (at(parser, ")"))
            break;
        if ((statement = parse_statement(parser)) == NULL)
            return NULL;
        list_add(parser, &list, statement);
    } while (parser->token->kind == TOKEN_SEPARATOR);
    parser->keeps_do = keeps_do;
    if (!take(parser, ")"))
        return unexpected(parser, ", expected ')'");
    if (list.count == 1)
        return list.items[0];
    block->items = list.items;
    block->count = list.count;
    return block;
}

static struct node *
parse_primary(struct parser *parser)
{
    const struct token *token = parser->token;

    switch (token->kind) {
    case TOKEN_STRING:
    case TOKEN_PIECE:
        return parse_string(parser);
    case TOKEN_SYMBOL:
        return new_literal(parser, (struct value){.kind = VALUE_SYMBOL, .as.bytes = token->text});
    case TOKEN_INTEGER:
        return new_literal(parser, value_integer(token->integer));
    case TOKEN_FLOAT:
        return new_literal(parser, (struct value){.kind = VALUE_FLOAT, .as.number = token->number});
    case TOKEN_NAME:
        return parse_name(parser);
    case TOKEN_CONSTANT:
        return parse_constant(parser);
    case TOKEN_OPERATOR:
        if (at(parser, "{"))
            return parse_hash(parser);
        if (at(parser, "["))
            return parse_array(parser);
        if (at(parser, "("))
            return parse_group(parser);
        break;
    case TOKEN_LABEL:
    case TOKEN_SEPARATOR:
    case TOKEN_END:
        break;
    }
    return unexpected(parser, "");
}

/* ---- What stands behind a value -------------------------------------------------------------- */

/* A bracket right behind what it takes an item of; behind a variable a blank may stand before. */
static bool
starts_index(const struct parser *parser, const struct node *receiver)
{
    return at(parser, "[") && (!parser->token->blank_before ||
                               (receiver->kind == NODE_CALL && receiver->bare &&
                                receiver->receiver == NULL && is_variable(parser, receiver->name)));
}

static struct node *
parse_index(struct parser *parser, struct node *receiver)
{
    struct node *node = new_node(parser, NODE_INDEX);
    struct node_list list = {0};

    parser->token++;
    do {
        struct node *index = parse_expression(parser);

        if (index == NULL)
            return NULL;
        list_add(parser, &list, index);
    } while (list.count < 2 && take(parser, ","));
    if (!take(parser, "]"))
        return unexpected(parser, ", expected ']'");
    node->receiver = receiver;
    node->items = list.items;
    node->count = list.count;
    return node;
}

/* Class::Nested, and Class.Nested. */
static struct node *
parse_scope(struct parser *parser, struct node *receiver)
{
    struct node *node = new_node(parser, NODE_SCOPE);

    node->receiver = receiver;
    node->name = parser->token++->text;
    return node;
}

struct node *
parse_postfix(struct parser *parser)
{
    struct node *node = parse_primary(parser);
    unsigned chain = 0;

    while (node != NULL) {
        bool scope = at(parser, "::");

        if (++chain > GREATEST_CHAIN)
            return too_deep(parser);
        if (starts_index(parser, node)) {
            node = parse_index(parser, node);
            continue;
        }
        if (!scope && !at(parser, "."))
            break;
        parser->token++;
        if (parser->token->kind == TOKEN_CONSTANT)
            node = parse_scope(parser, node);
        else if (parser->token->kind == TOKEN_NAME)
            node = parse_call(parser, node);
        else
            node = unexpected(parser, ", expected a method's name");
    }
    return node;
}
