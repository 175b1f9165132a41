/*
 * shell.c -- any bytes as lines typed into the shell: the lexer and the parser refuse them with a
 * place inside of the input, or make a tree of them. A literal, shown as the shell shows values and
 * typed again, is the same.
 */
#include "tests/fuzz/target.h"
#include "tools/shell/language/parser.h"

/* Strings and integers. */
static void
type_again(const struct value *value, const struct text *shown)
{
    struct syntax_error error = {.position = 0};
    struct arena arena = {.chunks = NULL};
    struct node **statements = NULL;
    struct lexer lexer;
    size_t count = 0;

    lexer_init(&lexer, &arena);
    lexer_add_line(&lexer, (petal_slice){shown->bytes, shown->size});
    fuzz_must(!lexer_wants_more(&lexer));
    lexer_finish(&lexer);
    fuzz_must(lexer.error.message[0] == '\0' &&
              parser_parse(&lexer, NULL, &arena, &statements, &count, &error));
    fuzz_must(count == 1 && statements[0]->kind == NODE_LITERAL &&
              value_equal(&statements[0]->value, value));
    lexer_free(&lexer);
    arena_clear(&arena);
}

/* Touch the whole tree. */
static size_t
weigh(const struct node *node)
{
    size_t sum = 1;

    if (node == NULL)
        return 0;
    if (node->kind == NODE_LITERAL) {
        struct text text = {0};

        value_inspect(&text, &node->value);
        sum += text.size;
        if (node->value.kind == VALUE_STRING || node->value.kind == VALUE_INTEGER)
            type_again(&node->value, &text);
        text_free(&text);
    }
    for (size_t i = 0; i < node->name.size; i++)
        sum += ((const uint8_t *)node->name.data)[i];
    for (size_t i = 0; i < node->name_count; i++)
        sum += node->names[i].size + *(const uint8_t *)node->names[i].data;
    for (size_t i = 0; i < node->count; i++)
        sum += weigh(node->items[i]);
    return sum + weigh(node->receiver) + weigh(node->block);
}

static void
check_error(const struct syntax_error *error, size_t size)
{
    if (error->message[0] == '\0' || memchr(error->message, 0, sizeof(error->message)) == NULL ||
        error->position > size)
        abort();
}

static void
run_input(struct lexer *lexer, struct arena *arena)
{
    struct syntax_error error = {.position = 0};
    struct node **statements;
    size_t count;

    lexer_finish(lexer);
    if (lexer->error.message[0] != '\0') {
        check_error(&lexer->error, lexer->input.size);
    } else if (parser_parse(lexer, NULL, arena, &statements, &count, &error)) {
        for (size_t i = 0; i < count; i++)
            if (weigh(statements[i]) == 0)
                abort();
    } else {
        check_error(&error, lexer->input.size);
    }
    lexer_clear(lexer);
    arena_clear(arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *at = (const char *)bytes, *end = at + size;
    struct arena arena = {.chunks = NULL};
    struct lexer lexer;

    lexer_init(&lexer, &arena);
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop != NULL ? stop : end) - at);

        lexer_add_line(&lexer, (petal_slice){at, length});
        if (!lexer_wants_more(&lexer))
            run_input(&lexer, &arena);
        at += length + (stop != NULL);
    }
    if (lexer.input.size > 0)
        run_input(&lexer, &arena);
    lexer_free(&lexer);
    arena_clear(&arena);
    return 0;
}
