/*
 * parser.c -- see tools/shell/language/parser.h.
 *
 * A recursive descent.  Every function that parses returns NULL after a mistake, which is then
 * described in parser->error; the first one counts.
 */
#include "tools/shell/language/parser.h"

#include <string.h>

enum { GREATEST_DEPTH = 100, GREATEST_CHAIN = 1000 }; /* of nesting; of .methods and [indexes] */

struct parser {
    const struct token *token; /* the one at hand */
    struct arena *arena;
    struct syntax_error *error;
    unsigned depth;
};

/* A list of nodes that grows in the arena. */
struct node_list {
    struct node **items;
    size_t count, capacity;
};

static struct node *parse_expression(struct parser *parser);
static bool parse_statements(struct parser *parser, const char *closing, struct node_list *list);

static void
list_add(struct parser *parser, struct node_list *list, struct node *node)
{
    list->items =
        arena_room(parser->arena, list->items, list->count, &list->capacity, sizeof(struct node *));
    list->items[list->count++] = node;
}

static bool
at(const struct parser *parser, const char *operator)
{
    return parser->token->kind == TOKEN_OPERATOR && slice_is(parser->token->text, operator);
}

static bool
take(struct parser *parser, const char *operator)
{
    bool found = at(parser, operator);

    if (found)
        parser->token++;
    return found;
}

static struct node *
unexpected(struct parser *parser, const char *wanted)
{
    const struct token *token = parser->token;

    if (token->kind == TOKEN_END || token->kind == TOKEN_SEPARATOR)
        syntax_error_set(parser->error, token->begin, "unexpected end of the command%s", wanted);
    else if (token->kind == TOKEN_STRING)
        syntax_error_set(parser->error, token->begin, "unexpected string%s", wanted);
    else if (token->kind == TOKEN_INTEGER || token->kind == TOKEN_FLOAT)
        syntax_error_set(parser->error, token->begin, "unexpected number%s", wanted);
    else
        syntax_error_set(parser->error, token->begin, "unexpected '%.*s'%s",
                         SLICE_UP_TO(40, token->text), wanted);
    return NULL;
}

static struct node *
new_node(struct parser *parser, enum node_kind kind)
{
    struct node *node = arena_allocate(parser->arena, sizeof(*node));

    *node = (struct node){.kind = kind, .position = parser->token->begin};
    return node;
}

static struct node *
new_literal(struct parser *parser, struct value value)
{
    struct node *node = new_node(parser, NODE_LITERAL);

    node->value = value;
    parser->token++;
    return node;
}

/* Two strings side by side are one. */
static struct node *
parse_string(struct parser *parser)
{
    struct node *node = new_literal(parser, value_string(parser->token->text));
    petal_slice *bytes = &node->value.as.bytes;

    while (parser->token->kind == TOKEN_STRING) {
        petal_slice more = parser->token->text;
        char *joined = arena_allocate(parser->arena, bytes->size + more.size);

        if (bytes->size > 0)
            memcpy(joined, bytes->data, bytes->size);
        if (more.size > 0)
            memcpy(joined + bytes->size, more.data, more.size);
        *bytes = (petal_slice){joined, bytes->size + more.size};
        parser->token++;
    }
    return node;
}

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

/* `{ |`: the token behind the last is TOKEN_END, so there is a next one. */
static bool
starts_block(const struct parser *parser)
{
    return at(parser, "{") && parser->token[1].kind == TOKEN_OPERATOR &&
           slice_is(parser->token[1].text, "|");
}

/* Does the token at hand begin the first argument of a call without parentheses? */
static bool
starts_argument(const struct parser *parser)
{
    switch (parser->token->kind) {
    case TOKEN_STRING:
    case TOKEN_SYMBOL:
    case TOKEN_LABEL:
    case TOKEN_INTEGER:
    case TOKEN_FLOAT:
    case TOKEN_CONSTANT:
    case TOKEN_NAME:
        return true;
    case TOKEN_OPERATOR:
        return parser->token->blank_before &&
               (at(parser, "[") || (at(parser, "{") && !starts_block(parser)));
    case TOKEN_END:
    case TOKEN_SEPARATOR:
        break;
    }
    return false;
}

/* At a name that is a command or a method: the call with its arguments. */
static struct node *
parse_call(struct parser *parser, struct node *receiver)
{
    struct node *node = new_node(parser, NODE_CALL);
    bool good = true;

    node->receiver = receiver;
    node->name = parser->token->text;
    parser->token++;
    if (take(parser, "("))
        good = parse_arguments(parser, ")", node);
    else if (starts_argument(parser))
        good = parse_arguments(parser, NULL, node);
    else
        node->bare = true;
    return good ? node : NULL;
}

static struct node *
parse_name(struct parser *parser)
{
    petal_slice name = parser->token->text;

    if (slice_is(name, "nil"))
        return new_literal(parser, value_nil());
    if (slice_is(name, "true") || slice_is(name, "false"))
        return new_literal(parser, value_boolean(slice_is(name, "true")));
    return parse_call(parser, NULL);
}

static struct node *
parse_constant(struct parser *parser)
{
    const struct token *next = parser->token + 1;
    struct node *node;

    if (next->kind == TOKEN_STRING || (next->kind == TOKEN_OPERATOR && slice_is(next->text, "(")))
        return parse_call(parser, NULL);
    node = new_node(parser, NODE_CONSTANT);
    node->name = parser->token->text;
    parser->token++;
    return node;
}

static struct node *
parse_primary(struct parser *parser)
{
    const struct token *token = parser->token;

    switch (token->kind) {
    case TOKEN_STRING:
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
        if (take(parser, "(")) {
            struct node *node = parse_expression(parser);

            if (node != NULL && !take(parser, ")"))
                return unexpected(parser, ", expected ')'");
            return node;
        }
        break;
    case TOKEN_LABEL:
    case TOKEN_SEPARATOR:
    case TOKEN_END:
        break;
    }
    return unexpected(parser, "");
}

static struct node *
parse_block(struct parser *parser)
{
    struct node *node = new_node(parser, NODE_BLOCK);
    struct node_list list = {0};

    parser->token += 2;
    if (parser->token->kind != TOKEN_NAME)
        return unexpected(parser, ", expected a name for the block's item");
    node->name = parser->token++->text;
    if (!take(parser, "|"))
        return unexpected(parser, ", expected '|'");
    if (!parse_statements(parser, "}", &list))
        return NULL;
    node->items = list.items;
    node->count = list.count;
    return node;
}

/* A bracket right behind what it takes an item of. */
static bool
starts_index(const struct parser *parser)
{
    return at(parser, "[") && !parser->token->blank_before;
}

static struct node *
parse_index(struct parser *parser, struct node *receiver)
{
    struct node *node = new_node(parser, NODE_INDEX);
    struct node_list list = {0};
    struct node *index;

    parser->token++;
    index = parse_expression(parser);
    if (index == NULL)
        return NULL;
    if (!take(parser, "]"))
        return unexpected(parser, ", expected ']'");
    list_add(parser, &list, index);
    node->receiver = receiver;
    node->items = list.items;
    node->count = list.count;
    return node;
}

/* Does `name =` stand here?  The token behind the last is TOKEN_END, so there is a next one. */
static bool
starts_assignment(const struct parser *parser)
{
    const struct token *token = parser->token;

    return (token->kind == TOKEN_NAME || token->kind == TOKEN_CONSTANT) &&
           token[1].kind == TOKEN_OPERATOR && slice_is(token[1].text, "=");
}

static struct node *
too_deep(struct parser *parser)
{
    syntax_error_set(parser->error, parser->token->begin, "nested too deeply");
    return NULL;
}

static struct node *
parse_expression(struct parser *parser)
{
    unsigned chain = 0;
    struct node *node;

    if (parser->depth == GREATEST_DEPTH)
        return too_deep(parser);
    parser->depth++;
    node = parse_primary(parser);
    while (node != NULL && (starts_index(parser) || take(parser, "."))) {
        if (++chain > GREATEST_CHAIN)
            node = too_deep(parser);
        else if (starts_index(parser))
            node = parse_index(parser, node);
        else if (parser->token->kind != TOKEN_NAME)
            node = unexpected(parser, ", expected a method's name");
        else if ((node = parse_call(parser, node)) != NULL && starts_block(parser) &&
                 (node->block = parse_block(parser)) == NULL)
            node = NULL;
    }
    parser->depth--;
    return node;
}

/* `a = b = value` assigns from the right. */
static struct node *
parse_statement(struct parser *parser)
{
    struct node_list list = {0};
    struct node *node, *value;

    if (!starts_assignment(parser))
        return parse_expression(parser);
    if (parser->depth == GREATEST_DEPTH)
        return too_deep(parser);
    node = new_node(parser, NODE_ASSIGN);
    node->name = parser->token->text;
    parser->token += 2;
    parser->depth++;
    value = parse_statement(parser);
    parser->depth--;
    if (value == NULL)
        return NULL;
    list_add(parser, &list, value);
    node->items = list.items;
    node->count = list.count;
    return node;
}

/* Read statements up to `closing`, or to the end of the input when that is NULL. */
static bool
parse_statements(struct parser *parser, const char *closing, struct node_list *list)
{
    for (;;) {
        struct node *statement;

        while (parser->token->kind == TOKEN_SEPARATOR)
            parser->token++;
        if (closing != NULL ? take(parser, closing) : parser->token->kind == TOKEN_END)
            return true;
        statement = parse_statement(parser);
        if (statement == NULL)
            return false;
        list_add(parser, list, statement);
        if (parser->token->kind != TOKEN_SEPARATOR &&
            (closing != NULL ? !at(parser, closing) : parser->token->kind != TOKEN_END)) {
            (void)unexpected(parser, "");
            return false;
        }
    }
}

bool
parser_parse(const struct lexer *lexer, struct arena *arena, struct node ***statements,
             size_t *count, struct syntax_error *error)
{
    struct parser parser = {.token = lexer->tokens, .arena = arena, .error = error};
    struct node_list list = {0};

    error->message[0] = '\0';
    if (!parse_statements(&parser, NULL, &list))
        return false;
    *statements = list.items;
    *count = list.count;
    return true;
}
