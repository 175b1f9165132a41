/* account.c -- see account.h. */
#include "tests/kernel/account.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct account_life *
account_life(struct account *account)
{
    return &account->lives[atomic_load(&account->current)];
}

uint64_t
account_moment(struct account *account)
{
    return atomic_fetch_add(&account->moment, 1) + 1;
}

void
account_reset(struct account *account)
{
    struct account_found nothing = {{0}, {0}, 0};

    account_begin(account, &nothing);
}

/* The life may be in the making: whichever comes second sees what the other did. */
static void
end_life(struct account_life *life, uint64_t moment)
{
    uint64_t none = 0;

    (void)atomic_compare_exchange_strong(&life->cut, &none, moment);
}

void
account_begin(struct account *account, const struct account_found *found)
{
    unsigned other = 1 - atomic_load(&account->current);
    struct account_life *life = &account->lives[other];

    memset(life, 0, sizeof *life);
    if (!atomic_load(&account->disk_is_there))
        end_life(life, atomic_load(&account->cut));
    for (unsigned i = 0; i < ACCOUNT_WRITERS; i++) {
        life->first[i] = found->numbers[i];
        atomic_init(&life->attempted[i], found->numbers[i]);
    }
    for (unsigned i = 0; i < ACCOUNT_UNLOGGED; i++) {
        atomic_init(&life->least[i], found->unlogged[i]);
        atomic_init(&life->most[i], found->unlogged[i]);
    }
    atomic_init(&life->steps_done, found->steps);
    atomic_init(&life->steps_begun, found->steps);
    atomic_store(&account->current, other);
}

void
account_note_cut(struct account *account)
{
    uint64_t moment = account_moment(account);

    atomic_store(&account->cut, moment);
    atomic_store(&account->disk_is_there, false);
    atomic_store(&account->kernel_lives, false);
    for (size_t i = 0; i < 2; i++)
        end_life(&account->lives[i], moment);
}

void
account_note_death(struct account *account)
{
    /* One that only opened leaves what the cut before it left. */
    atomic_store(&account->kernel_lives, atomic_load(&account_life(account)->cut) == 0);
}

void
account_note_durable(struct account *account, uint64_t moment)
{
    struct account_life *life = account_life(account);
    uint64_t known = atomic_load(&life->durable);

    while (atomic_load(&account->disk_is_there) && known < moment &&
           !atomic_compare_exchange_weak(&life->durable, &known, moment))
        ;
}

/* ---- what may be there ---- */

/* When the last write that is there began, of all writers. */
static uint64_t
last_beginning(const struct account_life *life, const uint64_t *numbers)
{
    uint64_t last = 0;

    for (unsigned i = 0; i < ACCOUNT_WRITERS; i++) {
        uint64_t began = numbers[i] > life->first[i]
                             ? atomic_load(&life->writes[i][numbers[i] - life->first[i] - 1].began)
                             : 0;

        last = began > last ? began : last;
    }
    return last;
}

/* Acknowledged, and before the disk went. */
static bool
was_synced(const struct account_life *life, const struct account_write *write)
{
    uint64_t cut = atomic_load(&life->cut);

    return atomic_load(&write->synced) && (cut == 0 || atomic_load(&write->acknowledged) < cut);
}

static bool
admits(const struct account_life *life, const uint64_t *numbers, uint64_t before,
       bool synced_are_there, char *why, size_t bytes)
{
    uint64_t last;

    for (unsigned i = 0; i < ACCOUNT_WRITERS; i++) {
        uint64_t attempted = atomic_load(&life->attempted[i]);

        if (numbers[i] < life->first[i] || numbers[i] > attempted) {
            snprintf(why, bytes,
                     "writer %u: %" PRIu64 " writes are there; %" PRIu64
                     " were on the medium and %" PRIu64 " were begun",
                     i, numbers[i], life->first[i], attempted);
            return false;
        }
    }
    last = last_beginning(life, numbers);
    for (unsigned i = 0; i < ACCOUNT_WRITERS; i++) {
        uint64_t attempted = atomic_load(&life->attempted[i]);

        for (uint64_t n = numbers[i] + 1; n <= attempted; n++) {
            const struct account_write *write = &life->writes[i][n - life->first[i] - 1];
            uint64_t acknowledged = atomic_load(&write->acknowledged);
            const char *cause = acknowledged == 0                             ? NULL
                                : synced_are_there && was_synced(life, write) ? "was synced"
                                : acknowledged < before ? "was brought to the medium"
                                : acknowledged < last   ? "came before what is there"
                                                        : NULL;

            if (cause != NULL) {
                snprintf(why, bytes,
                         "writer %u: write %" PRIu64 " is lost, which %s (acknowledged at %" PRIu64
                         ", on the medium until %" PRIu64 ", the last that is there began at "
                         "%" PRIu64 ", cut at %" PRIu64 "); %" PRIu64 " are there, %" PRIu64
                         " when it began",
                         i, n, cause, acknowledged, before, last, atomic_load(&life->cut),
                         numbers[i], life->first[i]);
                return false;
            }
        }
    }
    return true;
}

bool
account_admits_writes(const struct account *account, const uint64_t *numbers, char *why,
                      size_t bytes)
{
    const struct account_life *life = &account->lives[atomic_load(&account->current)];
    bool all = atomic_load(&account->kernel_lives);

    return admits(life, numbers, all ? UINT64_MAX : atomic_load(&life->durable), true, why, bytes);
}

bool
account_admits_copy(const struct account_life *life, const uint64_t *numbers, char *why,
                    size_t bytes)
{
    bool done = atomic_load(&life->copy) == COPY_DONE;

    return admits(life, numbers, done ? atomic_load(&life->copy_began) : 0, false, why, bytes);
}

bool
account_admits_unlogged(const struct account_life *life, const uint64_t *numbers, char *why,
                        size_t bytes)
{
    for (unsigned i = 0; i < ACCOUNT_UNLOGGED; i++) {
        uint64_t least = atomic_load(&life->least[i]), most = atomic_load(&life->most[i]);

        if (numbers[i] < least || numbers[i] > most) {
            snprintf(why, bytes,
                     "unlogged row %u holds write %" PRIu64 "; %" PRIu64
                     " was flushed, and %" PRIu64 " the last",
                     i, numbers[i], least, most);
            return false;
        }
    }
    return true;
}

/* ---- failure ---- */

void
account_fail(struct account *account, const char *format, ...)
{
    va_list arguments;

    if (!atomic_exchange(&account->failed, true)) {
        va_start(arguments, format);
        vsnprintf(account->failure, sizeof account->failure, format, arguments);
        va_end(arguments);
    }
    _exit(3);
}

static bool end_is_expected;

void
account_expect_the_end(void)
{
    end_is_expected = true;
}

void
account_must(struct account *account, enum petal_status status, const petal_error *error,
             const char *action)
{
    struct timespec moment = {0, 1000000};

    if (status == PETAL_OK)
        return;
    /* Who takes the disk away says so right after it. */
    for (int i = 0; end_is_expected && i < 2000 && atomic_load(&account->disk_is_there); i++)
        nanosleep(&moment, NULL);
    if (!end_is_expected || atomic_load(&account->disk_is_there))
        account_fail(account, "%s: %s: %s", action, petal_status_text(status), error->text);
    for (;;)
        pause();
}
