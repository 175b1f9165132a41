/*
 * session.h -- the state of one shell: its database, its output, and what became of the command at
 * hand.
 *
 * A command says how it ended by an enum shell_status, the program's exit status too.  One that
 * failed has called session_fail, which keeps the message for whoever shows it.
 *
 * The room session: the state of one shell, and what every command is run with.
 */
#ifndef PETAL_TOOLS_SHELL_SESSION_SESSION_H
#define PETAL_TOOLS_SHELL_SESSION_SESSION_H

#include "tools/shell/print/output.h"
#include "tools/shell/session/gets.h"
#include "tools/shell/session/log.h"
#include "tools/shell/session/value.h"

/* Exit status of the program, from best to worst. */
enum shell_status {
    SHELL_FINE = 0,
    SHELL_NOT_FOUND = 1, /* a table, family, row or command that there is not */
    SHELL_USAGE = 2,     /* a mistake in the command, or in a file that it imports */
    SHELL_DATA = 3       /* damaged data, input/output error, no memory, database open elsewhere */
};

struct command;
struct ruby;

/* What a mistake or a failed command does. */
enum failure_style {
    FAILURE_IS_SHOWN,    /* in a block of lines, and the shell goes on */
    FAILURE_ENDS_SCRIPT, /* it is shown in one line after the duration, and the shell ends */
    FAILURE_ENDS_STREAM  /* the same on standard error */
};

/* A place in an input, whose first line has the number `line`. */
struct place {
    petal_slice input;
    size_t position; /* what lies after the end means its last byte */
    unsigned line;
    size_t comma; /* of a command: before which of its strings one may be missing; 0: none */
};

struct session {
    petal_db *db; /* NULL: the directory has none; commands that need one are not run then */
    petal_transaction *transaction; /* that reads and writes of rows belong to; NULL: none */
    bool transaction_writes;        /* it has something to store */
    const char *directory;
    const petal_options *options;   /* of every opening */
    bool reads_only;                /* as they ask for, or since another process writes */
    struct text writer;             /* which is that process, in words; empty: as they ask for */
    double refreshed;               /* when the last command began that saw what is new then */
    struct log *log;                /* of the engine's messages */
    const struct command *commands; /* by name; the last one has none */
    bool no_compaction;             /* in the background */
    const struct command *running;  /* now, or ran last */
    struct place place;             /* of the command that failed; find_place sets it */
    const struct command *failed_command;
    enum shell_status failure;                   /* its status */
    void (*find_place)(struct session *session); /* NULL: commands come from no input */
    struct ruby *ruby;                           /* runs the inputs; NULL until the first one */
    const char *script; /* the file that commands come from, NULL: they have none */
    petal_result *result;
    petal_receipt *receipt;
    struct output output;
    struct get_history history;  /* of gets */
    struct arena arena;          /* of the command at hand */
    struct text message;         /* of the failed command, empty if it printed all it had to say */
    bool verdict;                /* the message is what the command found out, no mistake in it */
    bool refused;                /* by a database that is only read: no usage can help */
    struct text told;            /* notes that are told once a session, a line each */
    struct text scratch;         /* for whoever needs a text for a moment */
    enum shell_status worst;     /* of the first command that failed; while none did, of all */
    bool no_times;               /* leave the lines with durations out */
    uintptr_t loop;              /* the outermost one that the command at hand runs in; 0: none */
    uintptr_t timed_loop;        /* whose commands have a duration that is not shown yet; 0: none */
    double loop_begin, loop_end; /* of the first and the last of them */
    bool echo_input;             /* print each line of input after petal> or petal* */
    enum failure_style failure_style;
    bool failed; /* a command did, or a mistake was made: other than not finding a row or a name */
    bool stop_at_failure;
    bool unsafe;       /* scripts may use files, sockets and processes */
    bool conversation; /* with someone at a terminal */
    bool interrupted; /* the command at hand was, by Ctrl-C: what is left of its input is not run */
    bool ended;       /* by exit, or by a failure when those end it */
    int exit_status;  /* given to exit, -1 if none was */
    /* Reads the line that answers a command's question, false when there is none; NULL: nobody
     * answers. */
    bool (*read_answer)(void *context, struct text *answer);
    void *answer_context;
    struct text *disabled; /* names of tables that this session disabled */
    size_t disabled_count;
};

enum shell_status session_fail(struct session *session, enum shell_status status,
                               const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Lines with a reason may stand below a failure's message, but where scripts get one line of it. */
static inline bool
session_gives_reasons(const struct session *session)
{
    return session->output.terminal || session->failure_style == FAILURE_IS_SHOWN;
}

/* The command was good and what it found is not: the message alone is shown, no usage. */
enum shell_status session_fail_by_verdict(struct session *session, enum shell_status status,
                                          const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fail for the reason that the library gave. */
enum shell_status session_fail_petal(struct session *session, const petal_error *error);
enum shell_status shell_status_of(enum petal_status status);

/* One line about a failure of the library: text, file and offset. */
void describe_petal_error(struct text *text, const petal_error *error);

/* The same; of damage in the session's database also what lists it; of a write that was refused
 * since another process writes, which one. */
void session_describe_error(const struct session *session, struct text *text,
                            const petal_error *error);

/* Print the line to standard error, unless the session has printed it before: the answers stay
 * those of HBase. */
void session_note(struct session *session, const struct text *line);

/* Read the answer to a question that was printed; what begins with y or Y is yes. Fails at the end
 * of the input. */
enum shell_status session_ask(struct session *session, bool *yes);

bool session_is_disabled(const struct session *session, petal_slice table);
void session_set_disabled(struct session *session, petal_slice table, bool disabled);

/* Check the form of a table's name and take the namespace `default:` away.  The name lives in
 * the arena. */
enum shell_status session_table_name(struct session *session, const struct value *value,
                                     petal_slice *name);

/* Check the form of a new snapshot's name.  It lives in the arena. */
enum shell_status session_snapshot_name(struct session *session, const struct value *value,
                                        petal_slice *name);

/* Check the form of a namespace's name; `before` begins the complaint about a letter. */
enum shell_status session_check_namespace(struct session *session, petal_slice name,
                                          const char *before);

/* The table that an argument names, disabled or not; fails with its name between two texts when
 * there is none. */
enum shell_status session_any_table(struct session *session, const struct value *argument,
                                    const char *before, const char *behind, petal_table **table);

/* The table of a checked name, or that an argument names, for reading or writing.  "Unknown table
 * t!" or "Table t is disabled!" else. */
enum shell_status session_table(struct session *session, petal_slice name, petal_table **table);
enum shell_status session_enabled_table(struct session *session, const struct value *argument,
                                        petal_table **table);

/* The table's family; fails with its name if there is none. */
enum shell_status session_family(struct session *session, petal_table *table, petal_slice name,
                                 petal_family **family);

#endif
