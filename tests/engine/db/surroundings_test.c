/*
 * surroundings_test.c -- others share the machine, and may have put something else where the
 * database's files are: nothing outside of its directory is opened, written or removed, nobody else
 * can read what it makes, and no name from a file or a caller becomes a path.
 *
 * On the operating system's files, with a victim beside the database that must stay as it is.
 */
#include "base/vfs_posix.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_NAMES 16
#define ROWS       50

/* ---- Fixture: a directory with a database `db`, closed, and a file `victim` ---- */

struct place {
    char *top;
    char database[256], victim[256];
    char names[MOST_NAMES][64]; /* of the database's files */
    size_t count;
    struct stat before; /* the victim */
};

static petal_db *
open_database(const char *directory, bool read_only, petal_error *error)
{
    petal_options options = {.create = !read_only, .read_only = read_only, .no_compaction = true};
    petal_db *db;

    return petal_open(directory, &options, &db, error) == PETAL_OK ? db : NULL;
}

/* False: it was refused. */
static bool
put_rows(petal_table *table)
{
    petal_error error;

    for (int i = 0; i < ROWS; i++) {
        char row[16];

        snprintf(row, sizeof row, "%04d", i);
        if (petal_put(petal_table_family_at(table, 0), text(row), text("q"), PETAL_LATEST,
                      text("value"), NULL, &error) != PETAL_OK)
            return false;
    }
    return true;
}

static petal_table *
make_table(petal_db *db)
{
    petal_family_options family = {.name = text("f")};
    petal_table_options options = {.name = text("t"), .families = &family, .family_count = 1};
    petal_table *table;

    MUST(petal_table_create(db, &options, &table, WHY));
    assert_true(put_rows(table));
    MUST(petal_flush(db, NULL, WHY));
    assert_true(put_rows(table));
    return table;
}

static void
list_names(struct place *place)
{
    DIR *list = opendir(place->database);
    const struct dirent *entry;

    assert_non_null(list);
    place->count = 0;
    while ((entry = readdir(list)) != NULL)
        if (entry->d_name[0] != '.') {
            assert_true(place->count < MOST_NAMES);
            snprintf(place->names[place->count++], sizeof place->names[0], "%.63s", entry->d_name);
        }
    closedir(list);
}

static void
write_victim(struct place *place)
{
    FILE *file = fopen(place->victim, "w");

    assert_non_null(file);
    assert_true(fputs("nobody's business", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(stat(place->victim, &place->before), 0);
}

static void
expect_victim_untouched(const struct place *place)
{
    char bytes[64] = "";
    FILE *file = fopen(place->victim, "r");
    struct stat now;

    assert_non_null(file);
    assert_non_null(fgets(bytes, sizeof bytes, file));
    fclose(file);
    assert_string_equal(bytes, "nobody's business");
    assert_int_equal(stat(place->victim, &now), 0);
    assert_true(now.st_ino == place->before.st_ino && now.st_mode == place->before.st_mode &&
                now.st_mtime == place->before.st_mtime);
}

static int
set_up(void **state)
{
    struct place *place = test_allocate(sizeof *place);
    petal_error error;
    petal_db *db;

    memset(place, 0, sizeof *place);
    place->top = test_directory_new();
    snprintf(place->database, sizeof place->database, "%s/db", place->top);
    snprintf(place->victim, sizeof place->victim, "%s/victim", place->top);
    write_victim(place);
    db = open_database(place->database, false, &error);
    assert_non_null(db);
    make_table(db);
    MUST(petal_close(db, WHY));
    list_names(place);
    assert_true(place->count >= 3);
    *state = place;
    return 0;
}

static int
tear_down(void **state)
{
    struct place *place = *state;

    test_directory_free(place->top);
    free(place);
    return 0;
}

static void
path_of(char path[512], const struct place *place, const char *name)
{
    snprintf(path, 512, "%s/%.100s", place->database, name);
}

/* ---- What others may put into the place of a file ---- */

enum impostor { LINK_OUTSIDE, LINK_TO_ITSELF, PIPE, SOCKET, DEVICE, DIRECTORY, IMPOSTORS };

static const char *const impostor_names[] = {
    "a link to the victim", "a link to the moved file", "a pipe", "a socket", "a device",
    "a directory"};

static bool
make_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int made = socket(AF_UNIX, SOCK_STREAM, 0), bound;

    assert_true(made >= 0 && strlen(path) < sizeof address.sun_path);
    memcpy(address.sun_path, path, strlen(path));
    bound = bind(made, (const struct sockaddr *)&address, sizeof address);
    close(made);
    return bound == 0;
}

/* False: this process may not make one. */
static bool
put_impostor(const struct place *place, enum impostor impostor, const char *path, const char *moved)
{
    switch (impostor) {
    case LINK_OUTSIDE:
        return symlink(place->victim, path) == 0;
    case LINK_TO_ITSELF:
        return symlink(moved, path) == 0;
    case PIPE:
        return mkfifo(path, 0666) == 0;
    case SOCKET:
        return make_socket(path);
    case DEVICE:
        return mknod(path, S_IFCHR | 0666, 1 << 8 | 5) == 0; /* of zeros */
    default:
        return mkdir(path, 0777) == 0;
    }
}

/* Opened or refused, but never with what the impostor leads to, and never waiting for one. */
static void
open_beside(const struct place *place, const char *name, enum impostor impostor, bool read_only)
{
    petal_error error = {.text = ""};
    petal_db *db;

    alarm(60);
    db = open_database(place->database, read_only, &error);
    if (db == NULL) {
        if (strstr(error.text, name) == NULL)
            fail_msg("%s in place of %s: the error names neither: %s", impostor_names[impostor],
                     name, error.text);
    } else {
        petal_table *table = NULL;
        bool is_store_file = strstr(name, ".sst") != NULL;

        /* A reader may do without LOCK; a store file costs its family alone. */
        assert_true(is_store_file || strcmp(name, "LOCK") == 0 ||
                    strcmp(name, "MANIFEST.tmp") == 0);
        if (is_store_file) {
            MUST(petal_table_open(db, text("t"), &table, WHY));
            assert_int_equal(petal_family_check(petal_table_family_at(table, 0), &error),
                             PETAL_CORRUPT);
            assert_non_null(strstr(error.text, name));
        }
        MUST(petal_close(db, WHY));
    }
    alarm(0);
}

static void
try_impostor(const struct place *place, const char *name, enum impostor impostor)
{
    char path[512], moved[512];
    bool was_there;

    path_of(path, place, name);
    snprintf(moved, sizeof moved, "%s/moved", place->top);
    was_there = rename(path, moved) == 0;
    if (impostor == LINK_TO_ITSELF && !was_there)
        return;
    if (!put_impostor(place, impostor, path, moved)) {
        assert_int_equal(impostor, DEVICE);
        printf("SKIPPED: this user makes no devices\n");
    } else {
        open_beside(place, name, impostor, true);
        open_beside(place, name, impostor, false);
        expect_victim_untouched(place);
        if (remove(path) != 0)
            assert_int_equal(errno, ENOENT);
    }
    if (was_there)
        assert_int_equal(rename(moved, path), 0);
}

TEST_WITH(test_no_impostor_is_believed, set_up, tear_down)
{
    const struct place *place = *state;
    petal_error error;
    petal_db *db;

    for (int impostor = 0; impostor < IMPOSTORS; impostor++) {
        for (size_t i = 0; i < place->count; i++)
            try_impostor(place, place->names[i], (enum impostor)impostor);
        if (impostor != LINK_TO_ITSELF)
            try_impostor(place, "000900.log", (enum impostor)impostor);
    }
    db = open_database(place->database, false, &error);
    assert_non_null(db);
    MUST(petal_close(db, WHY));
}

enum foreseeable { NEXT_STORE_FILES, NEXT_LOGS, NEXT_MANIFEST, NEXT_LOCK, FORESEEABLE };

static unsigned
greatest_number(const struct place *place)
{
    DIR *list = opendir(place->database);
    const struct dirent *entry;
    unsigned greatest = 0;

    assert_non_null(list);
    while ((entry = readdir(list)) != NULL) {
        unsigned number = (unsigned)strtoul(entry->d_name, NULL, 10);

        greatest = number > greatest ? number : greatest;
    }
    closedir(list);
    return greatest;
}

/* Links to the victim where the files of the next numbers will be. */
static void
plant_links(const struct place *place, enum foreseeable kind, bool hard)
{
    unsigned next = greatest_number(place) + 1;
    char path[512];

    for (unsigned number = next; number < next + 40; number++) {
        snprintf(path, sizeof path, "%s/%06u.%s", place->database, number,
                 kind == NEXT_LOGS ? "log" : "sst");
        if (kind == NEXT_MANIFEST)
            path_of(path, place, "MANIFEST.tmp");
        if (kind == NEXT_LOCK) {
            path_of(path, place, "LOCK");
            (void)unlink(path);
        }
        if ((hard ? link(place->victim, path) : symlink(place->victim, path)) != 0)
            assert_int_equal(errno, EEXIST);
    }
}

static void
remove_links(const struct place *place)
{
    DIR *list = opendir(place->database);
    const struct dirent *entry;

    assert_non_null(list);
    while ((entry = readdir(list)) != NULL) {
        struct stat status;
        char path[512];

        path_of(path, place, entry->d_name);
        assert_int_equal(lstat(path, &status), 0);
        if (S_ISLNK(status.st_mode) || status.st_ino == place->before.st_ino)
            assert_int_equal(unlink(path), 0);
    }
    closedir(list);
}

/* MANIFEST.tmp, LOCK and the files of the next numbers are foreseeable names: a link there, soft or
 * hard, made before the database is opened or meanwhile, does not get its target overwritten. */
TEST_WITH(test_foreseeable_names, set_up, tear_down)
{
    const struct place *place = *state;
    int opened = 0;

    for (int round = 0; round < 4 * FORESEEABLE; round++) {
        enum foreseeable kind = (enum foreseeable)(round / 4);
        bool hard = round % 2 == 1, before = round % 4 < 2;
        petal_error error;
        petal_db *db;

        if (before)
            plant_links(place, kind, hard);
        db = open_database(place->database, false, &error);
        opened += db != NULL;
        if (!before)
            plant_links(place, kind, hard);
        if (db != NULL) {
            petal_table *table;

            MUST(petal_table_open(db, text("t"), &table, WHY));
            for (int i = 0; i < 3; i++) {
                if (!put_rows(table) || petal_flush(db, NULL, &error) != PETAL_OK)
                    break;
            }
            (void)petal_close(db, &error);
        } else {
            assert_non_null(strstr(error.text, place->database));
        }
        expect_victim_untouched(place);
        remove_links(place);
    }
    assert_true(opened >= 2 * FORESEEABLE);
}

/* ---- Who may read, and what children get ---- */

static void
expect_modes(const char *directory)
{
    DIR *list = opendir(directory);
    const struct dirent *entry;
    struct stat status;

    assert_non_null(list);
    assert_int_equal(stat(directory, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    while ((entry = readdir(list)) != NULL) {
        char path[1024];

        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        assert_int_equal(lstat(path, &status), 0);
        if (S_ISREG(status.st_mode) && (status.st_mode & 07777) != 0600)
            fail_msg("%s has the mode %o", path, status.st_mode & 07777u);
    }
    closedir(list);
}

TEST_WITH(test_files_are_private, set_up, tear_down)
{
    struct place *place = *state;
    mode_t before = umask(0);
    char copy[300], made[300];
    petal_error error;
    petal_db *db;

    snprintf(made, sizeof made, "%s/made", place->top);
    snprintf(copy, sizeof copy, "%s/copy", place->top);
    db = open_database(made, false, &error);
    assert_non_null(db);
    make_table(db);
    MUST(petal_checkpoint(db, copy, WHY));
    expect_modes(made);
    expect_modes(copy);
    MUST(petal_close(db, WHY));
    expect_modes(made);
    umask(before);
}

/* Descriptors that a program gets which this process executes: none of the database's. */
TEST_WITH(test_descriptors_stay_here, set_up, tear_down)
{
    const struct place *place = *state;
    petal_error error;
    petal_db *db = open_database(place->database, false, &error);
    char line[512];
    int found = 0;
    FILE *out;

    assert_non_null(db);
    out = popen("ls -l /proc/self/fd", "r");
    assert_non_null(out);
    while (fgets(line, sizeof line, out) != NULL)
        found += strstr(line, place->top) != NULL;
    assert_int_equal(pclose(out), 0);
    assert_int_equal(found, 0);
    for (int descriptor = 3; descriptor < 256; descriptor++) {
        char name[64], target[512];
        ssize_t size;

        snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
        size = readlink(name, target, sizeof target - 1);
        if (size < 0)
            continue;
        target[size] = '\0';
        if (strstr(target, place->top) != NULL) {
            found++;
            assert_true((fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0);
        }
    }
    assert_true(found > 2); /* LOCK, the directory, a store file or a log */
    MUST(petal_close(db, WHY));
}

/* ---- Names that are no paths ---- */

static void
expect_only(const struct place *place)
{
    DIR *list = opendir(place->top);
    const struct dirent *entry;

    assert_non_null(list);
    while ((entry = readdir(list)) != NULL)
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, "db") != 0 &&
            strcmp(entry->d_name, "victim") != 0)
            fail_msg("there is %s beside the database", entry->d_name);
    closedir(list);
}

TEST_WITH(test_names_are_no_paths, set_up, tear_down)
{
    static const petal_slice names[] = {
        {"../victim", 9}, {"/tmp/victim", 11}, {"..", 2}, {".", 1},   {"a\0b", 3},  {"a/b", 3},
        {"\n", 1},        {"a\\b", 3},         {"~", 1},  {"-rf", 3}, {"../x:t", 6}};
    const struct place *place = *state;
    petal_error error;
    petal_db *db = open_database(place->database, false, &error);
    petal_table *table, *made;
    char *endless = test_allocate(70000);

    assert_non_null(db);
    memset(endless, 'a', 70000);
    MUST(petal_table_open(db, text("t"), &table, WHY));
    for (size_t i = 0; i <= sizeof names / sizeof names[0]; i++) {
        petal_slice name =
            i < sizeof names / sizeof names[0] ? names[i] : (petal_slice){endless, 70000};
        petal_family_options family = {.name = text("f")};
        petal_table_options options = {.name = name, .families = &family, .family_count = 1};

        assert_int_equal(petal_table_create(db, &options, &made, &error), PETAL_INVALID);
        assert_int_equal(petal_table_snapshot_create(table, name, NULL, &error), PETAL_INVALID);
        options.name = text("u");
        family.name = name;
        if (petal_table_create(db, &options, &made, &error) == PETAL_OK)
            MUST(petal_table_drop(made, WHY));
    }
    expect_only(place);
    expect_victim_untouched(place);
    /* A checkpoint goes where the caller says, and nowhere else: not through what is there. */
    snprintf(endless, 70000, "%s/victim", place->top);
    assert_int_not_equal(petal_checkpoint(db, endless, &error), PETAL_OK);
    assert_int_equal(petal_checkpoint(db, place->database, &error), PETAL_EXISTS);
    memset(endless, 'a', 69999);
    endless[69999] = '\0';
    assert_int_not_equal(petal_checkpoint(db, endless, &error), PETAL_OK);
    expect_victim_untouched(place);
    expect_only(place);
    MUST(petal_close(db, WHY));
    free(endless);
}
