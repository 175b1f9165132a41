/*
 * judged_row.h -- a hand-made row and what engine/rules/visibility.h says of each of its cells.
 *
 * A ROW is text: cells `qualifier` `timestamp` . `sequence` `kind` [~ own TTL] = `fate`, in cell
 * order, where the kind is P (put), D (DELETE), C (DELETE_COLUMN), V (DELETE_FAMILY_VERSION) or F
 * (DELETE_FAMILY); the fate is "shown" or the reason why not, with an exclamation mark after it
 * when the column is done.
 */
#ifndef PETAL_TESTS_ENGINE_RULES_JUDGED_ROW_H
#define PETAL_TESTS_ENGINE_RULES_JUDGED_ROW_H

#include "engine/rules/visibility.h"

#define JUDGED_READ_POINT 1000

/* The rules of a family that keeps `versions`, up to that read point. */
struct visibility_rules judged_rules(enum visibility_purpose purpose, uint32_t versions);

/* Fails the test unless all cells have their fates: judged one by one, and by a caller that goes on
 * with the next column where it may. */
void judged_row_check(const struct visibility_rules *rules, const char *text);

#endif
