/*
 * script.h -- tests of the engine as scripts: what is done to a database in memory, and what it
 * then shows.
 *
 * STATEMENTS end at a semicolon or the end of a line, and have words with blanks between them; what
 * stands in braces is one word. A statement that fails, or shows something else, fails the test.
 *
 *     table T FAMILY... ; alter T FAMILY... ; drop T ; truncate T
 *     keep OLD T             OLD is a name of T's handle as it is now
 *     put T CELL...          one by one; markers, too. unlogged T CELL...: without the log
 *     batch T ITEM...        as one write: cells; inc:CELL and app:CELL, which add and append;
 *                            row:ROW, which deletes it; and {OPTION...}, with which a mutation
 *                            begins: ttl=MS, range=MIN..LIMIT, silent
 *     version T CELL...      each as a version of its own
 *     inc T CELL ; app T CELL ; given : CELL...     what the latest write gave back
 *     delete-row T ROW@TIMESTAMP ; delete-rows T OPTION... : N     of reads; range: of the markers
 *     flush ; compact T ; verify T
 *     shut ; kill            close; the process dies
 *     reopen ; die           close if open, and open; kill and open
 *     clock MS ; later MS    set the clock; move it
 *     take T S ; clone S T ; restore S T ; delete S ; snapshots : S...      table snapshots
 *     moment M ; forget M    a snapshot of the database
 *     bulk B T ; below B T ; add B T CELL... ; commit B ; give-up B
 *     show T OPTION... : CELL...         a scan, step by step and row by row; or the get of a row
 *     open C T OPTION... ; step C : CELL ; rest C : CELL... ; rows C : CELL... | CELL... | ;
 *     seek C PLACE ; close C             a cursor; a PLACE is row or row/family:qualifier, of table
 *                                        t, or with another one after it
 *     stored T N                         so many cells are in T's files
 *     files N ; clean                    store files in the directory; no other than belong there
 *     close-database                     of which something is in use: it is refused
 *     refused STATUS STATEMENT           it must fail so
 *     told TEXT                          which the text of that failure contains
 *
 * A FAMILY is a name of one letter and attributes: f,versions=3,min=1,ttl=10,keep=ttl,new,
 * block=1024,bloom=rowcol. What it does not say is as in script->family.
 *
 * A CELL is row/family:qualifier@timestamp=value, a marker ends with !type, a number of enum
 * petal_cell_type. An empty qualifier may be left out with its colon. Without a timestamp a write
 * takes the clock's, and an answer may have any. A value #5 is that number in 8 bytes; ~MS after a
 * value or type is a time to live. Other bytes than printed ones are \xx.
 *
 * OPTIONS of reads: row=R (a get), column=f:q, column=f (the whole family), versions=N, all
 * (versions), raw, reversed, from=R, after=R, to=R, through=R, prefix=R, limit=N (rows),
 * range=MIN..LIMIT (of time), cells=N and skip=N (of each family and row), at=M (a moment),
 * batch=N, filter={TEXT}.
 */
#ifndef PETAL_TESTS_ENGINE_SCRIPT_H
#define PETAL_TESTS_ENGINE_SCRIPT_H

#include "tests/crash/ledger.h"

enum script_kind { SCRIPT_TABLE = 1, SCRIPT_MOMENT, SCRIPT_CURSOR, SCRIPT_BULK };

struct script {
    struct fixture base; /* `options` may be changed before a reopening */
    petal_family_options family;
    petal_result *given; /* by the latest write; NULL: none was made */
    petal_error error;   /* of the last statement that was refused */
    struct script_name {
        enum script_kind kind; /* 0: free */
        char name[24];
        void *object;
    } names[24];
};

/* An open, empty database. The clock stands at 1000. */
void script_begin(struct script *script);
void script_end(struct script *script);

void script_do(struct script *script, const char *statements);

/* On an open database of the caller's: it has no clock and no files of the script's. */
void script_do_on(petal_db *db, const char *statements);

/* In another database that is there, in the same surroundings; it is closed again. */
void script_do_in(struct script *script, const char *directory, const char *statements);

/* A file with a table of such cases runs them by TEST_EACH. */
struct script_case {
    const char *says, *statements;
};
void script_case_do(struct script *script, const struct script_case *of);
void script_run(const struct script_case *of); /* from begin to end */

/* What must be there. */
petal_table *script_table(struct script *script, const char *name);
petal_family *script_family(struct script *script, const char *table, const char *family);

/* From here on the script's. */
void script_name_bulk(struct script *script, const char *name, petal_bulk *bulk);

#endif
