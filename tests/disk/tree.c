/* tree.c -- see tests/disk/tree.h. */
#include "tests/disk/tree.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct name {
    char *text;
    struct memory_node *node; /* counted */
};

struct names {
    struct name *list;
    size_t count, capacity;
};

/* A change of a directory since its last sync: create or link (no `from`), remove (no `to`),
 * rename. */
struct change {
    char *from, *to;          /* NULL: none */
    struct memory_node *node; /* what `to` stands for afterwards, counted; NULL if none */
    bool lost, chosen;        /* `chosen`: scratch of who applies a part of the list */
};

#define GRAVES 3

struct memory_node {
    size_t references;
    struct memory_node *copy; /* scratch of memory_tree_clone, else NULL */
    bool is_directory;
    struct memory_node *parent; /* of a directory but the root: borrowed, since that holds it */
    bool counted;               /* scratch of memory_tree_used_bytes, else false */

    struct memory_file file; /* of a file */

    struct names live_names, durable_names; /* of a directory */
    struct change *changes;
    size_t change_count, change_capacity;
    struct memory_bytes graves[GRAVES]; /* of files that lost their durable name, newest first */
};

/* Room for one more element in an array of *capacity; returns the array. */
static void *
grow(void *list, size_t count, size_t *capacity, size_t element_size)
{
    if (count < *capacity)
        return list;
    *capacity = *capacity == 0 ? 8 : *capacity * 2;
    return test_reallocate(list, *capacity * element_size);
}

/* ---- Lists of names ---- */

static struct name *
names_find(const struct names *names, const char *text)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->list[i].text, text) == 0)
            return &names->list[i];
    }
    return NULL;
}

static void
names_set(struct names *names, const char *text, struct memory_node *node)
{
    struct name *name = names_find(names, text);

    memory_tree_ref(node);
    if (name != NULL) {
        memory_tree_unref(name->node);
        name->node = node;
        return;
    }
    names->list = grow(names->list, names->count, &names->capacity, sizeof(*names->list));
    names->list[names->count++] = (struct name){test_strdup(text), node};
}

static void
names_remove(struct names *names, const char *text)
{
    struct name *name = names_find(names, text);

    if (name == NULL)
        return;
    free(name->text);
    memory_tree_unref(name->node);
    *name = names->list[--names->count];
}

static void
names_clear(struct names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        free(names->list[i].text);
        memory_tree_unref(names->list[i].node);
    }
    free(names->list);
    *names = (struct names){NULL, 0, 0};
}

static void
names_apply(struct names *names, const struct change *change)
{
    if (change->from != NULL)
        names_remove(names, change->from);
    if (change->to != NULL)
        names_set(names, change->to, change->node);
}

/* ---- Nodes ---- */

static struct memory_node *
node_new(bool is_directory)
{
    struct memory_node *node = test_allocate(sizeof(*node));

    memset(node, 0, sizeof(*node));
    node->references = 1;
    node->is_directory = is_directory;
    return node;
}

struct memory_node *
memory_tree_new(void)
{
    return node_new(true);
}

void
memory_tree_ref(struct memory_node *node)
{
    node->references++;
}

static void
forget_changes(struct memory_node *directory)
{
    for (size_t i = 0; i < directory->change_count; i++) {
        free(directory->changes[i].from);
        free(directory->changes[i].to);
        if (directory->changes[i].node != NULL)
            memory_tree_unref(directory->changes[i].node);
    }
    directory->change_count = 0;
}

void
memory_tree_unref(struct memory_node *node)
{
    assert(node->references > 0);
    if (--node->references > 0)
        return;
    memory_file_fini(&node->file);
    for (size_t i = 0; i < GRAVES; i++)
        memory_bytes_release(&node->graves[i]);
    forget_changes(node);
    names_clear(&node->live_names);
    names_clear(&node->durable_names);
    free(node->changes);
    free(node);
}

struct memory_file *
memory_tree_file(struct memory_node *node)
{
    return node->is_directory ? NULL : &node->file;
}

bool
memory_tree_is_directory(const struct memory_node *node)
{
    return node->is_directory;
}

struct memory_node *
memory_tree_parent(struct memory_node *directory)
{
    return directory->parent != NULL ? directory->parent : directory;
}

/* ---- Copies ---- */

static struct memory_node *copy_node(struct memory_node *node);

static void
copy_names(struct names *to, const struct names *from)
{
    for (size_t i = 0; i < from->count; i++)
        names_set(to, from->list[i].text, copy_node(from->list[i].node));
}

static void
copy_changes(struct memory_node *to, const struct memory_node *from)
{
    for (size_t i = 0; i < from->change_count; i++) {
        struct change change = from->changes[i];

        change.from = change.from == NULL ? NULL : test_strdup(change.from);
        change.to = change.to == NULL ? NULL : test_strdup(change.to);
        if (change.node != NULL) {
            change.node = copy_node(change.node);
            memory_tree_ref(change.node);
        }
        to->changes =
            grow(to->changes, to->change_count, &to->change_capacity, sizeof(*to->changes));
        to->changes[to->change_count++] = change;
    }
}

/* The copy of a node, made at the first visit.  Borrowed: its one reference is dropped by
 * end_copy. */
static struct memory_node *
copy_node(struct memory_node *node)
{
    struct memory_node *copy = node->copy;

    if (copy != NULL)
        return copy;
    copy = node_new(node->is_directory);
    node->copy = copy;
    copy->parent = node->parent != NULL ? node->parent->copy : NULL; /* that is copied first */
    memory_file_copy(&copy->file, &node->file);
    for (size_t i = 0; i < GRAVES; i++)
        memory_bytes_share(&copy->graves[i], &node->graves[i]);
    copy_names(&copy->live_names, &node->live_names);
    copy_names(&copy->durable_names, &node->durable_names);
    copy_changes(copy, node);
    return copy;
}

static void
end_copy(struct memory_node *node)
{
    struct memory_node *copy = node->copy;

    if (copy == NULL)
        return;
    node->copy = NULL;
    for (size_t i = 0; i < node->live_names.count; i++)
        end_copy(node->live_names.list[i].node);
    for (size_t i = 0; i < node->durable_names.count; i++)
        end_copy(node->durable_names.list[i].node);
    for (size_t i = 0; i < node->change_count; i++) {
        if (node->changes[i].node != NULL)
            end_copy(node->changes[i].node);
    }
    memory_tree_unref(copy);
}

struct memory_node *
memory_tree_clone(struct memory_node *root)
{
    struct memory_node *copy = copy_node(root);

    memory_tree_ref(copy); /* the caller's */
    end_copy(root);
    return copy;
}

/* ---- Paths ---- */

/* The next part of *path that is not empty or ".", of *length bytes; *path steps over it.  NULL at
 * the end. */
static const char *
next_part(const char **path, size_t *length)
{
    for (;;) {
        const char *part = *path + strspn(*path, "/");

        *length = strcspn(part, "/");
        *path = part + *length;
        if (*length == 0)
            return NULL;
        if (*length != 1 || *part != '.')
            return part;
    }
}

/*
 * Find the directory that holds the last part of `path`, and that part as *name (to be released;
 * NULL when the path is the root's).
 */
static int
find_parent(struct memory_node *root, const char *path, struct memory_node **parent, char **name)
{
    struct memory_node *directory = root;
    char *last = NULL;
    const char *part;
    size_t length;
    int error = *path == '\0' ? ENOENT : 0;

    while (error == 0 && (part = next_part(&path, &length)) != NULL) {
        if (last != NULL) { /* there is more after it: it must be a directory */
            const struct name *found = names_find(&directory->live_names, last);

            error = found == NULL ? ENOENT : found->node->is_directory ? 0 : ENOTDIR;
            if (error == 0)
                directory = found->node;
        }
        free(last);
        last = test_allocate(length + 1);
        memcpy(last, part, length);
        last[length] = '\0';
        if (error == 0 && strcmp(last, "..") == 0)
            error = EINVAL;
    }
    if (error != 0) {
        free(last);
        last = NULL;
    }
    *parent = directory;
    *name = last;
    return error;
}

int
memory_tree_find(struct memory_node *root, const char *path, struct memory_node **node)
{
    struct memory_node *parent;
    const struct name *found;
    char *name;
    int error = find_parent(root, path, &parent, &name);

    *node = NULL;
    if (error != 0)
        return error;
    if (name == NULL) {
        *node = root;
        return 0;
    }
    found = names_find(&parent->live_names, name);
    free(name);
    if (found == NULL)
        return ENOENT;
    *node = found->node;
    return 0;
}

/* ---- Changes of directories ---- */

static void
change_directory(struct memory_node *directory, const char *from, const char *to,
                 struct memory_node *node)
{
    struct change change = {.node = node};

    change.from = from == NULL ? NULL : test_strdup(from);
    change.to = to == NULL ? NULL : test_strdup(to);
    if (node != NULL)
        memory_tree_ref(node);
    names_apply(&directory->live_names, &change);
    directory->changes = grow(directory->changes, directory->change_count,
                              &directory->change_capacity, sizeof(*directory->changes));
    directory->changes[directory->change_count++] = change;
}

int
memory_tree_create(struct memory_node *root, const char *path, bool is_directory,
                   struct memory_node **node)
{
    struct memory_node *parent;
    char *name;
    int error = find_parent(root, path, &parent, &name);

    *node = NULL;
    if (error == 0 && (name == NULL || names_find(&parent->live_names, name) != NULL))
        error = EEXIST;
    if (error == 0) {
        *node = node_new(is_directory);
        (*node)->parent = is_directory ? parent : NULL;
        change_directory(parent, NULL, name, *node);
        memory_tree_unref(*node); /* the directory holds it */
    }
    free(name);
    return error;
}

static int
check_replace(const struct memory_node *node, const struct memory_node *replaced)
{
    if (!node->is_directory)
        return replaced->is_directory ? EISDIR : 0;
    if (!replaced->is_directory)
        return ENOTDIR;
    return replaced->live_names.count > 0 ? ENOTEMPTY : 0;
}

static int
rename_in(struct memory_node *directory, const char *from, const char *to)
{
    const struct name *moved = names_find(&directory->live_names, from);
    const struct name *replaced = names_find(&directory->live_names, to);
    struct memory_node *node;
    int error;

    if (moved == NULL)
        return ENOENT;
    if (moved == replaced)
        return 0;
    node = moved->node;
    error = replaced == NULL ? 0 : check_replace(node, replaced->node);
    if (error == 0)
        change_directory(directory, from, to, node);
    return error;
}

int
memory_tree_rename(struct memory_node *root, const char *from, const char *to)
{
    struct memory_node *from_parent, *to_parent;
    char *from_name = NULL, *to_name = NULL;
    int error = find_parent(root, from, &from_parent, &from_name);

    if (error == 0)
        error = find_parent(root, to, &to_parent, &to_name);
    if (error == 0 && (from_name == NULL || to_name == NULL))
        error = EBUSY;
    if (error == 0 && from_parent != to_parent)
        error = EXDEV;
    if (error == 0)
        error = rename_in(from_parent, from_name, to_name);
    free(from_name);
    free(to_name);
    return error;
}

int
memory_tree_link(struct memory_node *from_root, const char *from, struct memory_node *to_root,
                 const char *to)
{
    struct memory_node *node, *parent;
    char *name = NULL;
    int error = memory_tree_find(from_root, from, &node);

    if (error == 0)
        error = find_parent(to_root, to, &parent, &name);
    if (error == 0 && (name == NULL || names_find(&parent->live_names, name) != NULL))
        error = EEXIST;
    if (error == 0 && node->is_directory)
        error = EPERM;
    if (error == 0)
        change_directory(parent, NULL, name, node);
    free(name);
    return error;
}

int
memory_tree_remove(struct memory_node *root, const char *path)
{
    struct memory_node *parent;
    const struct name *found;
    char *name;
    int error = find_parent(root, path, &parent, &name);

    if (error != 0)
        return error;
    if (name == NULL)
        return EISDIR;
    found = names_find(&parent->live_names, name);
    if (found == NULL)
        error = ENOENT;
    else if (found->node->is_directory)
        error = EISDIR;
    else
        change_directory(parent, name, NULL, NULL);
    free(name);
    return error;
}

/* Each node at its first name. */
static uint64_t
count_bytes(struct memory_node *node)
{
    uint64_t used = node->counted ? 0 : node->file.live.size;

    node->counted = true;
    for (size_t i = 0; i < node->live_names.count; i++)
        used += count_bytes(node->live_names.list[i].node);
    return used;
}

static void
end_count(struct memory_node *node)
{
    node->counted = false;
    for (size_t i = 0; i < node->live_names.count; i++)
        end_count(node->live_names.list[i].node);
}

uint64_t
memory_tree_used_bytes(struct memory_node *root)
{
    uint64_t used = count_bytes(root);

    end_count(root);
    return used;
}

size_t
memory_tree_name_count(const struct memory_node *node)
{
    return node->live_names.count;
}

const char *
memory_tree_name_at(const struct memory_node *node, size_t index)
{
    return node->live_names.list[index].text;
}

static bool
same_name(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static bool
touch_same_name(const struct change *a, const struct change *b)
{
    return same_name(a->from, b->from) || same_name(a->from, b->to) || same_name(a->to, b->from) ||
           same_name(a->to, b->to);
}

/* What reaches the disk when all but the lost changes do: these, and the lost ones that they build
 * on. */
static void
choose_kept_changes(struct memory_node *directory)
{
    struct change *changes = directory->changes;

    for (size_t i = directory->change_count; i-- > 0;) {
        changes[i].chosen = !changes[i].lost;
        for (size_t later = i + 1; later < directory->change_count; later++) {
            if (changes[later].chosen && touch_same_name(&changes[i], &changes[later]))
                changes[i].chosen = true;
        }
    }
}

/* A random set that holds, with each change, all earlier ones of the names it touches. */
static void
choose_random_changes(struct memory_node *directory, unsigned percent, struct test_random *random)
{
    struct change *changes = directory->changes;

    for (size_t i = 0; i < directory->change_count; i++) {
        changes[i].chosen = test_random_chance(random, percent);
        for (size_t earlier = 0; earlier < i; earlier++) {
            if (!changes[earlier].chosen && touch_same_name(&changes[earlier], &changes[i]))
                changes[i].chosen = false;
        }
    }
}

/* What had the durable name, if it is a file, has it no longer. */
static void
bury(struct memory_node *directory, const char *text, const struct memory_node *heir)
{
    const struct name *name = text == NULL ? NULL : names_find(&directory->durable_names, text);

    if (name == NULL || name->node == heir || name->node->is_directory)
        return;
    for (size_t i = GRAVES - 1; i > 0; i--)
        memory_bytes_share(&directory->graves[i], &directory->graves[i - 1]);
    memory_bytes_share(&directory->graves[0], &name->node->file.live);
}

/* Make the chosen changes durable, in their order, and forget the list. */
static void
settle_changes(struct memory_node *directory)
{
    for (size_t i = 0; i < directory->change_count; i++) {
        const struct change *change = &directory->changes[i];

        if (!change->chosen)
            continue;
        bury(directory, change->to, change->node);
        if (change->to == NULL)
            bury(directory, change->from, NULL);
        names_apply(&directory->durable_names, change);
    }
    forget_changes(directory);
}

void
memory_tree_sync_names(struct memory_node *node)
{
    choose_kept_changes(node);
    settle_changes(node);
}

void
memory_tree_fail_sync_names(struct memory_node *node)
{
    for (size_t i = 0; i < node->change_count; i++)
        node->changes[i].lost = true;
}

/* ---- Power ---- */

static void
show_durable_names(struct memory_node *directory)
{
    forget_changes(directory);
    names_clear(&directory->live_names);
    for (size_t i = 0; i < directory->durable_names.count; i++) {
        const struct name *name = &directory->durable_names.list[i];

        names_set(&directory->live_names, name->text, name->node);
    }
}

static void
cut_names(struct memory_node *directory, enum memory_cut cut, struct test_random *random)
{
    switch (cut) {
    case MEMORY_CUT_LOSE_ALL:
    case MEMORY_CUT_LOSE_NAMES:
        break;
    case MEMORY_CUT_RANDOM:
    case MEMORY_CUT_RANDOM_PAGES:
        if (directory->change_count == 0)
            break;
        choose_random_changes(directory, (unsigned)test_random_below(random, 101), random);
        settle_changes(directory);
        break;
    default:
        memory_tree_sync_names(directory);
    }
    show_durable_names(directory);
}

/* What may have been where a file of the directory grew: a file that is gone, or another. */
static const struct memory_bytes *
choose_stale(const struct memory_node *directory, struct test_random *random)
{
    size_t chosen = (size_t)test_random_below(random, GRAVES + directory->live_names.count);

    if (chosen < GRAVES)
        return &directory->graves[chosen];
    return &directory->live_names.list[chosen - GRAVES].node->file.live;
}

void
memory_tree_power_cut(struct memory_node *root, enum memory_cut cut, struct test_random *random)
{
    cut_names(root, cut, random);
    for (size_t i = 0; i < root->live_names.count; i++) {
        struct memory_node *node = root->live_names.list[i].node;
        struct memory_bytes stale = {NULL, NULL, 0};

        if (node->is_directory) {
            memory_tree_power_cut(node, cut, random);
            continue;
        }
        memory_bytes_share(&stale, choose_stale(root, random));
        memory_file_power_cut(&node->file, cut, &stale, random);
        memory_bytes_release(&stale);
    }
}

/* ---- Power, unit by unit ---- */

/* Visits all nodes that have or had a name, each once. */
struct unit_walk {
    size_t next; /* number of the next unit */
    bool cuts;   /* else they are only counted */
    size_t index;
    bool survives;
};

static enum memory_cut
fate_of_unit(struct unit_walk *walk)
{
    return (walk->next++ == walk->index) == walk->survives ? MEMORY_CUT_KEEP_ALL
                                                           : MEMORY_CUT_LOSE_ALL;
}

static void
keep_what_is_built_upon(struct memory_node *directory)
{
    struct change *changes = directory->changes;

    for (size_t i = directory->change_count; i-- > 0;) {
        for (size_t later = i + 1; later < directory->change_count; later++) {
            if (changes[later].chosen && touch_same_name(&changes[i], &changes[later]))
                changes[i].chosen = true;
        }
    }
}

static void
lose_what_is_built_on_lost(struct memory_node *directory)
{
    struct change *changes = directory->changes;

    for (size_t i = 0; i < directory->change_count; i++) {
        for (size_t earlier = 0; earlier < i; earlier++) {
            if (!changes[earlier].chosen && touch_same_name(&changes[earlier], &changes[i]))
                changes[i].chosen = false;
        }
    }
}

static void
choose_units(struct memory_node *directory, struct unit_walk *walk)
{
    for (size_t i = 0; i < directory->change_count; i++)
        directory->changes[i].chosen =
            fate_of_unit(walk) == MEMORY_CUT_KEEP_ALL && !directory->changes[i].lost;
    if (walk->survives)
        keep_what_is_built_upon(directory);
    else
        lose_what_is_built_on_lost(directory);
}

static void
walk_units(struct memory_node *node, struct unit_walk *walk)
{
    if (node->counted)
        return;
    node->counted = true;
    if (!node->is_directory) {
        if (node->file.write_count > 0) {
            enum memory_cut fate = fate_of_unit(walk);

            if (walk->cuts)
                memory_file_power_cut(&node->file, fate, NULL, NULL);
        }
        return;
    }
    choose_units(node, walk);
    for (size_t i = 0; i < node->live_names.count; i++)
        walk_units(node->live_names.list[i].node, walk);
    for (size_t i = 0; i < node->durable_names.count; i++)
        walk_units(node->durable_names.list[i].node, walk);
    for (size_t i = 0; i < node->change_count; i++) {
        if (node->changes[i].node != NULL)
            walk_units(node->changes[i].node, walk);
    }
}

/* The second walk: the names are settled where the first one has chosen. */
static void
end_walk(struct memory_node *node, bool cuts)
{
    if (!node->counted)
        return;
    node->counted = false;
    for (size_t i = 0; i < node->live_names.count; i++)
        end_walk(node->live_names.list[i].node, cuts);
    for (size_t i = 0; i < node->durable_names.count; i++)
        end_walk(node->durable_names.list[i].node, cuts);
    for (size_t i = 0; i < node->change_count; i++) {
        if (node->changes[i].node != NULL)
            end_walk(node->changes[i].node, cuts);
    }
    if (cuts && node->is_directory) {
        settle_changes(node);
        show_durable_names(node);
    }
}

size_t
memory_tree_pending(struct memory_node *root)
{
    struct unit_walk walk = {.cuts = false};

    walk_units(root, &walk);
    end_walk(root, false);
    return walk.next;
}

void
memory_tree_cut_one(struct memory_node *root, size_t index, bool survives)
{
    struct unit_walk walk = {.cuts = true, .index = index, .survives = survives};

    walk_units(root, &walk);
    end_walk(root, true);
}

/* ---- Hash ---- */

static uint64_t
mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

/* The order of names does not count. */
uint64_t
memory_tree_hash(const struct memory_node *root)
{
    uint64_t sum = 1;

    if (!root->is_directory)
        return memory_file_hash(&root->file);
    for (size_t i = 0; i < root->live_names.count; i++) {
        const struct name *name = &root->live_names.list[i];
        uint64_t hash = 0;

        /* What processes that read have noted there is gone with them. */
        if (strcmp(name->text, "READERS") == 0)
            continue;
        for (const char *letter = name->text; *letter != '\0'; letter++)
            hash = mix(hash, (uint8_t)*letter);
        sum += mix(hash, memory_tree_hash(name->node));
    }
    return sum;
}
