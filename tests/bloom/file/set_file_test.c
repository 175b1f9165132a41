/*
 * set_file_test.c -- the file around a set: what is written comes back, read or mapped; paths that
 * can name no file, and files that are damaged, cut, longer, of another version, byte order or
 * type, are refused, each with its own words; what others than the last writer left is taken away.
 */
#include "bloom/file/set_file.h"

#include "base/mem.h"
#include "tests/bloom/set_fixture.h"
#include "tests/support/test.h"
#include "tests/support/test_support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE 65536

static const struct set_file_head bitmap_head = {
    .type = PETAL_BLOOM_FILE_BITMAP, .layout = 1, .parameters = {17, 0, 0, 0, 0, 0, 0, 99}};

/* A disk, and the env with it. */
struct disk {
    struct memory_vfs *vfs;
    petal_env given;
    struct env env;
};

static struct disk
disk_of(struct memory_vfs *vfs)
{
    struct disk disk = {.vfs = vfs};

    disk.given = (petal_env){.size = sizeof disk.given, .vfs = memory_vfs_table(vfs)};
    env_init(&disk.env, &disk.given);
    return disk;
}

static void
write_set(const struct env *env, const char *path, const void *body, size_t size)
{
    struct set_file_writer *writer;
    petal_error error;

    assert_int_equal(set_file_create(env, path, &writer, &error), PETAL_OK);
    assert_int_equal(set_file_append(writer, body, size, &error), PETAL_OK);
    assert_int_equal(set_file_finish(writer, &bitmap_head, &error), PETAL_OK);
}

static void
check_set(const petal_env *env, const char *path, const void *body, size_t size, bool map)
{
    const petal_bloom_load_options options = {.map = map, .env = env};
    struct set_file file;
    petal_error error;

    assert_int_equal(set_file_open(path, &options, PETAL_BLOOM_FILE_BITMAP, &file, &error),
                     PETAL_OK);
    assert_int_equal(file.body_bytes, size);
    assert_int_equal(file.is_mapped, map);
    assert_memory_equal(&file.head, &bitmap_head, sizeof bitmap_head);
    if (size > 0) {
        assert_memory_equal(file.body, body, size);
        assert_int_equal((uintptr_t)file.body % (map ? 8 : CACHE_LINE_BYTES), 0);
    } else {
        assert_null(file.body);
    }
    set_file_close(&file);
}

TEST(what_is_written_comes_back)
{
    static const size_t sizes[] = {0, 1, 8, 4096, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 300000};
    char *directory = test_directory_new(), *path = test_path(directory, "a set");
    struct test_random random;
    uint8_t *body = test_allocate(300000);
    struct env env;

    env_init(&env, NULL);
    test_random_init(&random, test_seed());
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        enum petal_bloom_file_type type;

        memset(body, 0, sizes[i]);
        write_set(&env, path, body, sizes[i]); /* holes to the end */
        check_set(NULL, path, body, sizes[i], false);
        test_random_bytes(&random, body, sizes[i]);
        write_set(&env, path, body, sizes[i]);
        check_set(NULL, path, body, sizes[i], false);
        check_set(NULL, path, body, sizes[i], true);
        assert_int_equal(petal_bloom_file_type(path, NULL, &type, NULL), PETAL_OK);
        assert_int_equal(type, PETAL_BLOOM_FILE_BITMAP);
    }
    free(body);
    free(path);
    test_directory_free(directory);
}

/* Bytes and runs of zeros at any border give the file of the whole, in which zeros are holes. */
TEST(pieces_make_the_whole)
{
    enum { MOST = 40 * PIECE };
    char *directory = test_directory_new(), *path = test_path(directory, "set");
    uint8_t *body = test_allocate(MOST);
    struct test_random random;
    struct env env;

    env_init(&env, NULL);
    test_random_init(&random, test_seed());
    for (unsigned round = 0; round < 30; round++) {
        size_t size = 0, zeros = 0;
        struct set_file_writer *writer;
        struct stat status;

        assert_int_equal(set_file_create(&env, path, &writer, NULL), PETAL_OK);
        for (unsigned part = 0; part < 8; part++) {
            size_t more = (size_t)test_random_below(
                &random, test_random_chance(&random, 50) ? 5 * PIECE : 100);

            if (test_random_chance(&random, 50)) {
                memset(body + size, 0, more);
                zeros += more > 2 * PIECE ? more - 2 * PIECE : 0;
                assert_int_equal(set_file_append(writer, NULL, more, NULL), PETAL_OK);
            } else {
                test_random_bytes(&random, body + size, more);
                assert_int_equal(set_file_append(writer, body + size, more, NULL), PETAL_OK);
            }
            size += more;
        }
        assert_int_equal(set_file_finish(writer, &bitmap_head, NULL), PETAL_OK);
        check_set(NULL, path, body, size, false);
        check_set(NULL, path, body, size, true);
        assert_int_equal(stat(path, &status), 0);
        assert_true((uint64_t)status.st_blocks * 512 <= size - zeros + 2 * PIECE);
    }
    free(body);
    free(path);
    test_directory_free(directory);
}

/* ---- paths ---- */

static void
expect_create(const struct env *env, const char *path, enum petal_status status, const char *text)
{
    struct set_file_writer *writer;
    petal_error error;

    assert_int_equal(set_file_create(env, path, &writer, &error), status);
    assert_null(writer);
    assert_non_null(strstr(error.text, text));
}

static void
expect_open(const petal_env *env, const char *path, enum petal_status status, const char *text)
{
    const petal_bloom_load_options options = {.env = env};
    enum petal_bloom_file_type type;
    struct set_file file;
    petal_error error;

    assert_int_equal(set_file_open(path, &options, PETAL_BLOOM_FILE_BITMAP, &file, &error), status);
    assert_null(file.body);
    if (strstr(error.text, text) == NULL)
        print_message("%s\n", error.text);
    assert_non_null(strstr(error.text, text));
    assert_int_equal(petal_bloom_file_type(path, env, &type, &error), status);
}

/* Names of 256 bytes and more, in the file's place and in a directory's; and of builders. */
TEST(names_that_are_too_long_are_refused)
{
    char *directory = test_directory_new(), name[301], *file, *below;
    petal_bloom_builder_options options = {0};
    petal_bloom_builder *builder;
    petal_error error;
    struct env env;

    env_init(&env, NULL);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    file = test_path(directory, name);
    below = test_path(file, "below");
    expect_create(&env, file, PETAL_INVALID, "the name of the file is longer than");
    expect_open(NULL, file, PETAL_INVALID, "the name of the file is longer than");
    expect_create(&env, below, PETAL_INVALID, "a name in it, is longer than");
    expect_open(NULL, below, PETAL_INVALID, "a name in it, is longer than");
    options.directory = file;
    assert_int_equal(petal_bloom_builder_create(&options, &builder, &error), PETAL_INVALID);
    assert_non_null(strstr(error.text, "a name in it, is longer than"));
    name[255] = '\0'; /* the longest that there are */
    free(file);
    file = test_path(directory, name);
    write_set(&env, file, "x", 1);
    check_set(NULL, file, "x", 1, false);
    free(below);
    free(file);
    test_directory_free(directory);
}

TEST(paths_that_name_no_file_are_refused)
{
    static const char *const none[] = {"/", "a/", ".", "..", "a/.", "/.."};
    char *directory = test_directory_new(), *inner = test_path(directory, "d"),
         *link = test_path(directory, "link"), *pipe = test_path(directory, "pipe"),
         *absent = test_path(directory, "no/file"), *file = test_path(directory, "file"),
         *below = test_path(file, "below");
    struct env env;

    env_init(&env, NULL);
    write_set(&env, file, "x", 1);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(symlink("file", link), 0);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    expect_create(&env, NULL, PETAL_INVALID, "is empty");
    expect_create(&env, "", PETAL_INVALID, "is empty");
    expect_open(NULL, "", PETAL_INVALID, "is empty");
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        expect_create(&env, none[i], PETAL_INVALID, "path of a directory");
        expect_open(NULL, none[i], PETAL_INVALID, "path of a directory");
    }
    expect_create(&env, inner, PETAL_INVALID, "is a directory");
    expect_open(NULL, inner, PETAL_INVALID, "is a directory");
    expect_create(&env, link, PETAL_INVALID, "symbolic link");
    expect_open(NULL, link, PETAL_INVALID, "symbolic link");
    expect_create(&env, pipe, PETAL_INVALID, "neither a file nor a directory");
    expect_open(NULL, pipe, PETAL_INVALID, "neither a file nor a directory");
    expect_create(&env, absent, PETAL_NOT_FOUND, "there is no directory");
    expect_open(NULL, absent, PETAL_NOT_FOUND, "there is no directory");
    expect_create(&env, below, PETAL_IO, "Not a directory");
    expect_open(NULL, below, PETAL_IO, "Not a directory");
    assert_int_equal(unlink(file), 0);
    expect_open(NULL, file, PETAL_NOT_FOUND, "there is no file");
    free(below);
    free(file);
    free(absent);
    free(pipe);
    free(link);
    free(inner);
    test_directory_free(directory);
}

/* Relative ones too, and names as long as a name may be. */
TEST(paths_are_taken_apart)
{
    struct disk disk = disk_of(memory_vfs_new());
    char longest[256 + 2] = "d/";
    struct memory_vfs *vfs = disk.vfs;
    petal_directory *made;

    assert_int_equal(disk.env.vfs->open_directory(disk.env.vfs->context, "d", true, &made), 0);
    disk.env.vfs->close_directory(disk.env.vfs->context, made);
    /* "ä" is two bytes: the copy of the name in the other one ends between characters. */
    memset(longest + 2, 'x', 1);
    for (size_t i = 3; i + 2 <= 257; i += 2)
        memcpy(longest + i, "\xC3\xA4", 2);
    write_set(&disk.env, "plain", "1", 1);
    write_set(&disk.env, "/root", "2", 1);
    write_set(&disk.env, "d//inner", "3", 1);
    write_set(&disk.env, longest, "4", 1);
    check_set(&disk.given, "/plain", "1", 1, false);
    check_set(&disk.given, "root", "2", 1, false);
    check_set(&disk.given, "d/inner", "3", 1, true);
    check_set(&disk.given, longest, "4", 1, false);
    assert_int_equal(memory_vfs_open_files(vfs), 0);
    assert_int_equal(memory_vfs_open_directories(vfs), 0);
    memory_vfs_free(vfs);
}

/* ---- hostile bytes ---- */

/* A file of so many body bytes, to be spoilt. */
static uint8_t *
good_file(struct disk *disk, size_t body_bytes, size_t *size)
{
    uint8_t *body = test_allocate(body_bytes), *bytes;
    struct test_random random;

    test_random_init(&random, 7);
    test_random_bytes(&random, body, body_bytes);
    write_set(&disk->env, "set", body, body_bytes);
    free(body);
    assert_int_equal(memory_vfs_read_file(disk->vfs, "set", &bytes, size), 0);
    return bytes;
}

static void
expect_bytes(struct disk *disk, const uint8_t *bytes, size_t size, enum petal_status status,
             const char *text)
{
    assert_int_equal(memory_vfs_write_file(disk->vfs, "set", bytes, size), 0);
    expect_open(&disk->given, "set", status, text);
}

TEST(what_is_wrong_is_named)
{
    struct disk disk = disk_of(memory_vfs_new());
    size_t size;
    uint8_t *bytes = good_file(&disk, 1000, &size);
    uint8_t spoilt[SET_FILE_PAGE_BYTES + 1001];

    assert_int_equal(size, SET_FILE_PAGE_BYTES + 1000);
#define SPOIL(change, status, text)                                                                \
    do {                                                                                           \
        memcpy(spoilt, bytes, size);                                                               \
        change;                                                                                    \
        expect_bytes(&disk, spoilt, size, status, text);                                           \
    } while (0)
    SPOIL(spoilt[0] = 'p', PETAL_CORRUPT, "is not a file of a filter, a bitmap or a count");
    SPOIL(spoilt[8] = 2, PETAL_UNSUPPORTED, "has version 2 of the format, this library reads");
    SPOIL((spoilt[8] = 0, spoilt[9] = 1), PETAL_UNSUPPORTED, "byte order of another machine");
    SPOIL(spoilt[100]++, PETAL_CORRUPT, "the checksum of the header, bytes 0 to 103, is");
    SPOIL((spoilt[15] = 1, set_seal_header(spoilt)), PETAL_CORRUPT, "should be 0 are not");
    SPOIL(spoilt[4095] = 1, PETAL_CORRUPT, "should be 0 are not");
    SPOIL((spoilt[10] = 9, set_seal_header(spoilt)), PETAL_UNSUPPORTED, "a set of type 9");
    SPOIL((spoilt[10] = 1, spoilt[11] = 7, set_seal_header(spoilt)), PETAL_UNSUPPORTED,
          "filter of kind 7");
    SPOIL((spoilt[11] = 1, set_seal_header(spoilt)), PETAL_CORRUPT, "names kind 1");
    SPOIL((put_le64(spoilt + 16, 1001), set_seal_header(spoilt)), PETAL_CORRUPT,
          "the file is cut: 1000 bytes are there of a body of 1001");
    SPOIL((put_le64(spoilt + 16, UINT64_MAX - 100), set_seal_header(spoilt)), PETAL_CORRUPT,
          "the file is cut");
    SPOIL((put_le64(spoilt + 16, 990), set_seal_header(spoilt)), PETAL_CORRUPT,
          "goes on behind its body for 10 bytes");
#undef SPOIL
    free(bytes);
    memory_vfs_free(disk.vfs);
}

/* Errors that only who wants the body meets. */
TEST(wrong_bodies_are_refused)
{
    struct disk disk = disk_of(memory_vfs_new());
    const petal_bloom_load_options maps = {.map = true, .env = &disk.given}, torn = {.size = 5};
    struct set_file file;
    petal_error error;
    size_t size;
    uint8_t *bytes = good_file(&disk, 200000, &size);

    assert_int_equal(set_file_open("set", &maps, PETAL_BLOOM_FILE_FILTER, &file, &error),
                     PETAL_INVALID);
    assert_non_null(strstr(error.text, "holds a bitmap, not a filter"));
    assert_int_equal(set_file_open("set", &torn, PETAL_BLOOM_FILE_BITMAP, &file, &error),
                     PETAL_INVALID);
    bytes[size - 1]++;
    assert_int_equal(memory_vfs_write_file(disk.vfs, "set", bytes, size), 0);
    assert_int_equal(set_file_open("set", &maps, PETAL_BLOOM_FILE_BITMAP, &file, &error),
                     PETAL_CORRUPT);
    assert_int_equal(error.offset, SET_FILE_PAGE_BYTES);
    assert_non_null(strstr(error.text, "set: the checksum of the body, from byte 4096 on, is"));
    assert_int_equal(memory_vfs_open_files(disk.vfs), 0);
    free(bytes);
    memory_vfs_free(disk.vfs);
}

/* Each bit of each byte, each length: never a set, never a wrong one. */
TEST(no_damage_passes)
{
    struct disk disk = disk_of(memory_vfs_new());
    const petal_bloom_load_options options = {.env = &disk.given};
    struct set_file file;
    petal_error error;
    size_t size;
    uint8_t *bytes = good_file(&disk, 100, &size);
    uint64_t tried = 0;

    for (size_t at = 0; at < size; at++) {
        uint8_t bit = (uint8_t)(1u << at % 8);

        bytes[at] ^= bit;
        assert_int_equal(memory_vfs_write_file(disk.vfs, "set", bytes, size), 0);
        assert_true(set_file_open("set", &options, PETAL_BLOOM_FILE_BITMAP, &file, &error) !=
                    PETAL_OK);
        assert_string_equal(error.file, "set");
        bytes[at] ^= bit;
        tried++;
    }
    for (size_t length = 0; length < size; length++, tried++) {
        assert_int_equal(memory_vfs_write_file(disk.vfs, "set", bytes, length), 0);
        assert_int_equal(set_file_open("set", &options, PETAL_BLOOM_FILE_BITMAP, &file, &error),
                         PETAL_CORRUPT);
    }
    test_counted("%llu damaged or cut files of sets, all refused", (unsigned long long)tried);
    free(bytes);
    memory_vfs_free(disk.vfs);
}

/* A header that promises more than there is takes no memory for it. */
TEST(memory_is_taken_for_bytes_that_are_there)
{
    struct disk disk = disk_of(memory_vfs_new());
    struct test_allocator allocator;
    size_t size;
    uint8_t *bytes = good_file(&disk, 100, &size);

    test_allocator_init(&allocator);
    disk.given.allocator = &allocator.table;
    put_le64(bytes + 16, (uint64_t)1 << 40);
    set_seal_header(bytes);
    expect_bytes(&disk, bytes, size, PETAL_CORRUPT, "the file is cut");
    assert_true(test_allocator_peak_bytes(&allocator) < 4 * PIECE);
    assert_int_equal(test_allocator_live_bytes(&allocator), 0);
    free(bytes);
    memory_vfs_free(disk.vfs);
}

/* The widest border that was asked for. */
static size_t widest;

static void *
allocate_and_look(void *context, size_t alignment, size_t size)
{
    (void)context;
    widest = alignment > widest ? alignment : widest;
    return mem_default_allocator.allocate(NULL, alignment, size);
}

static void
release(void *context, void *memory, size_t size)
{
    (void)context;
    mem_default_allocator.release(NULL, memory, size);
}

/* On the border of a page each would take one, and what malloc loses before it. */
TEST(small_sets_are_on_no_border_of_a_page)
{
    const petal_allocator allocator = {NULL, allocate_and_look, release};
    struct disk disk = disk_of(memory_vfs_new());
    const petal_bloom_load_options options = {.env = &disk.given};
    petal_bitmap *bitmap, *loaded;
    petal_bitmap2 *bitmap2;
    petal_distinct *distinct;

    disk.given.allocator = &allocator;
    widest = 0;
    assert_int_equal(petal_bitmap_create(100, &disk.given, &bitmap, NULL), PETAL_OK);
    assert_int_equal(petal_bitmap2_create(100, &disk.given, &bitmap2, NULL), PETAL_OK);
    assert_int_equal(petal_distinct_create(0.26, 0, &disk.given, &distinct, NULL), PETAL_OK);
    assert_int_equal(petal_bitmap_save(bitmap, "bitmap", NULL), PETAL_OK);
    assert_int_equal(petal_bitmap_load("bitmap", &options, &loaded, NULL), PETAL_OK);
    assert_in_range(widest, 1, CACHE_LINE_BYTES);
    petal_bitmap_free(bitmap);
    petal_bitmap_free(loaded);
    petal_bitmap2_free(bitmap2);
    petal_distinct_free(distinct);
    memory_vfs_free(disk.vfs);
}

/* An env that was never filled in, or is of another struct, says so by its size. */
TEST(envs_of_wrong_sizes_are_refused)
{
    const petal_env wrong = {.size = 9};
    const petal_bloom_load_options options = {.env = &wrong};
    petal_error errors[8];
    enum petal_bloom_file_type type;
    petal_bloom *bloom;
    petal_bitmap *bitmap;
    petal_bitmap2 *bitmap2;
    petal_distinct *distinct;

    memset(errors, 0, sizeof errors);
    (void)!petal_bitmap_create(9, &wrong, &bitmap, &errors[0]);
    (void)!petal_bitmap2_create(9, &wrong, &bitmap2, &errors[1]);
    (void)!petal_distinct_create(0, 0, &wrong, &distinct, &errors[2]);
    (void)!petal_bitmap_load("none", &options, &bitmap, &errors[3]);
    (void)!petal_bitmap2_load("none", &options, &bitmap2, &errors[4]);
    (void)!petal_distinct_load("none", &options, &distinct, &errors[5]);
    (void)!petal_bloom_load("none", &options, &bloom, &errors[6]);
    (void)!petal_bloom_file_type("none", &wrong, &type, &errors[7]);
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        assert_int_equal(errors[i].status, PETAL_INVALID);
        assert_non_null(strstr(errors[i].text, "the size of petal_env is 9;"));
    }
}
