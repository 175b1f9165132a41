/*
 * transaction_test.c -- conflicts, and signals between two commands, in `transaction { .. }`.
 *
 * Transcripts cannot have them: nobody but the shell writes to the database. Here inputs run in
 * this process, and call methods that the test defines.
 */
#include "tests/support/test.h"
#include "tests/support/test_support.h"
#include "tools/shell/commands.h"
#include "tools/shell/ruby/state.h"
#include "tools/shell/session/interrupt.h"
#include "tools/shell/session/opening.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static char *directory;

/* meanwhile(row): write to the row of t, outside of the transaction. */
static mrb_value
write_outside(mrb_state *mrb, mrb_value self)
{
    petal_slice row = ruby_name(mrb);
    petal_table *table = ruby_table(mrb, (petal_slice)PETAL_TEXT("t"));

    assert_int_equal(petal_put(petal_table_family_at(table, 0), row, (petal_slice)PETAL_TEXT("b"),
                               PETAL_LATEST, (petal_slice)PETAL_TEXT("meanwhile"), NULL, NULL),
                     PETAL_OK);
    return self;
}

static mrb_value
raise_signal(mrb_state *mrb, mrb_value self)
{
    (void)mrb;
    assert_int_equal(raise(SIGINT), 0);
    return self;
}

/* What the inputs print, one after the other. */
static void
run(const char *const *inputs, size_t count, enum failure_style style, struct text *printed)
{
    const petal_options options = {.size = sizeof(options), .create = true};
    struct session session = {.commands = shell_commands(),
                              .no_times = true,
                              .conversation = true,
                              .failure_style = style};
    FILE *file = tmpfile();
    char line[256];

    assert_non_null(file);
    output_init(&session.output, file, false);
    assert_int_equal(session_open(&session, directory, &options), SHELL_FINE);
    ruby_open(&session);
    mrb_define_method(session.ruby->mrb, session.ruby->mrb->kernel_module, "meanwhile",
                      write_outside, MRB_ARGS_REQ(1));
    mrb_define_method(session.ruby->mrb, session.ruby->mrb->kernel_module, "signal", raise_signal,
                      MRB_ARGS_NONE());
    interrupt_install();
    for (size_t i = 0; i < count && !session.ended; i++) {
        struct text input = {0};

        text_add_format(&input, "%s\n", inputs[i]);
        assert_false(ruby_wants_more(&session, text_slice(&input)));
        (void)ruby_run(&session, text_slice(&input), (unsigned)i + 1);
        text_free(&input);
        assert_null(session.transaction);
    }
    (void)signal(SIGINT, SIG_DFL);
    ruby_close(&session);
    rewind(file);
    while (fgets(line, sizeof(line), file) != NULL)
        text_add_string(printed, line);
    assert_int_equal(session_close(&session), SHELL_FINE);
    (void)fclose(file);
}

#define RUN(style, printed, ...)                                                                   \
    do {                                                                                           \
        static const char *const inputs[] = {__VA_ARGS__};                                         \
                                                                                                   \
        run(inputs, sizeof(inputs) / sizeof(inputs[0]), style, printed);                           \
    } while (0)

static int
make_table(void **state)
{
    struct text printed = {0};

    (void)state;
    directory = test_directory_new();
    RUN(FAILURE_IS_SHOWN, &printed, "create 't', 'f'; put 't', 'r', 'f:a', 'old'");
    text_free(&printed);
    return 0;
}

static int
remove_table(void **state)
{
    (void)state;
    test_directory_free(directory);
    return 0;
}

TEST_WITH(a_conflict_writes_nothing_and_says_so, make_table, remove_table)
{
    struct text printed = {0};

    RUN(FAILURE_IS_SHOWN, &printed,
        "transaction { count 't'; meanwhile 'r'; put 't', 's', 'f:a', 'new' }", "count 't'");
    assert_string_equal(text_string(&printed),
                        "1 row(s)\n"
                        "\nERROR: row r of table t was written to since the transaction began; "
                        "nothing of it is written\n\nFor usage try 'help \"transaction\"'\n\n"
                        "1 row(s)\n=> 1\n");
    text_free(&printed);
}

TEST_WITH(a_conflict_ends_a_script, make_table, remove_table)
{
    struct text printed = {0};

    RUN(FAILURE_ENDS_SCRIPT, &printed, "transaction { put 't', 'r', 'f:a', 'new'; meanwhile 'r' }",
        "count 't'");
    assert_string_equal(text_string(&printed),
                        "ERROR RuntimeError: row r of table t was written to since the transaction "
                        "began; nothing of it is written\n");
    text_free(&printed);
}

TEST_WITH(a_conflict_can_be_rescued_and_the_block_run_again, make_table, remove_table)
{
    struct text printed = {0};

    RUN(FAILURE_IS_SHOWN, &printed,
        "n = 0; begin; transaction { incr 't', 's', 'f:n'; meanwhile 's' if (n += 1) < 3 }; "
        "rescue => e; puts e.message[0, 23]; retry; end; puts n",
        "get_counter 't', 's', 'f:n'");
    assert_string_equal(text_string(&printed), "COUNTER VALUE = 1\nrow s of table t was wr\n"
                                               "COUNTER VALUE = 1\nrow s of table t was wr\n"
                                               "COUNTER VALUE = 1\n3\n"
                                               "COUNTER VALUE = 1\n");
    text_free(&printed);
}

/* Reads count as reads of the transaction: otherwise the first block would meet no conflict, or the
 * second would see the write. */
TEST_WITH(reads_of_all_kinds_are_part_of_it, make_table, remove_table)
{
    static const char *const reads[] = {
        "get 't', 'r'",         "scan 't'",        "count 't'", "get_counter 't', 'r', 'f:n'",
        "explain get 't', 'r'", "explain scan 't'"};

    for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
        struct text printed = {0}, conflict = {0};
        const char *input;

        text_add_format(&conflict, "transaction { %s; meanwhile 'r'; put 't', 's', 'f:a', 'x' }",
                        reads[i]);
        input = text_string(&conflict);
        run(&input, 1, FAILURE_IS_SHOWN, &printed);
        assert_non_null(strstr(text_string(&printed), "row r of table t was written to since"));
        text_free(&printed);
        text_free(&conflict);
    }
    {
        struct text printed = {0};

        RUN(FAILURE_IS_SHOWN, &printed, "transaction { meanwhile 'q'; count 't'; get 't', 'q' }");
        assert_string_equal(text_string(&printed), "1 row(s)\nCOLUMN  CELL\n0 row(s)\n");
        text_free(&printed);
    }
}

TEST_WITH(a_signal_after_the_last_command_writes_nothing, make_table, remove_table)
{
    struct text printed = {0};

    RUN(FAILURE_IS_SHOWN, &printed, "transaction { put 't', 's', 'f:a', 'new'; signal }; list",
        "count 't'");
    assert_string_equal(text_string(&printed), "Interrupted\n1 row(s)\n=> 1\n");
    text_free(&printed);
}

int
main(void)
{
    /* A shell ignores it for processes in the background, which interrupt_install respects. */
    (void)signal(SIGINT, SIG_DFL);
    return test_run();
}
