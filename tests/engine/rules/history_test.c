/* history_test.c -- the lives of versions under NEW_VERSION_BEHAVIOR (engine/rules/history.h), as
 * engine/rules/visibility.h uses them. */

#include "tests/engine/rules/judged_row.h"
#include "tests/support/test.h"

static struct visibility_rules
new_rules(enum visibility_purpose purpose, uint32_t versions)
{
    struct visibility_rules rules = judged_rules(purpose, versions);

    rules.new_version_behavior = true;
    return rules;
}

TEST(test_the_drawing_of_lives)
{
    struct visibility_rules rules = new_rules(VISIBILITY_READ, 1);

    judged_row_check(&rules, "q30.4D=marker q30.3P=masked q20.2P=surplus q10.1P=surplus");
    /* With room for two, put@20 was living and not surplus when the marker came; put@10 was. */
    rules = new_rules(VISIBILITY_READ, 2);
    judged_row_check(&rules, "q30.4D=marker q30.3P=masked q20.2P=shown q10.1P=surplus");
    rules = new_rules(VISIBILITY_READ, 3);
    judged_row_check(&rules, "q30.4D=marker q30.3P=masked q20.2P=shown q10.1P=shown");
    /* Moments before a put was written do not matter to it. */
    rules = new_rules(VISIBILITY_READ, 1);
    judged_row_check(&rules, "q30.2D=marker q30.1P=masked q20.4P=shown q10.3P=surplus");
    judged_row_check(&rules, "q30.2D=marker q30.1P=masked q10.3P=shown");
}

TEST(test_the_order_of_writes)
{
    struct visibility_rules rules = new_rules(VISIBILITY_READ, 2);

    /* A put that was written after a marker lives, whatever its timestamp. */
    judged_row_check(&rules, "q30.5C=marker q20.6P=shown q10.4P=masked");
    judged_row_check(&rules, "30.5F=marker a20.6P=shown a10.4P=masked b30.4P=masked b5.7P=shown");
    judged_row_check(&rules, "20.5V=marker a20.6P=shown a10.4P=shown b20.4P=masked b10.1P=shown");
    judged_row_check(&rules, "q20.5D=marker q20.4P=masked q10.1P=shown");
    /* Another put at the timestamp ends a life. */
    judged_row_check(&rules, "q20.5P=shown q20.4P=masked q10.1P=shown q5.9P=surplus");
    /* Family markers are moments of every column; each column counts on its own. */
    judged_row_check(&rules,
                     "40.5F=marker a30.1P=masked a20.2P=masked a10.3P=surplus b10.6P=shown");
    /* The read point and dead cells: not there. */
    rules.read_point = 5;
    judged_row_check(&rules, "40.6F=outside a30.6C=outside a20.5P=shown a10.1P=shown");
    rules.now_ms = 100;
    judged_row_check(&rules, "40.5F~1=expired a20.5P=shown a10.1P~1=expired");
    /* What the reader wants is counted after what the family keeps. */
    rules = new_rules(VISIBILITY_READ, 2);
    rules.versions = 1;
    judged_row_check(&rules, "a30.1P=shown a20.1P=surplus! b30.1P=shown");
    rules.time_limit = 30;
    judged_row_check(&rules, "a30.1P=outside a20.1P=shown a10.1P=surplus");
}

TEST(test_compactions_in_the_order_of_writes)
{
    struct visibility_rules rules = new_rules(VISIBILITY_COMPACT, 2);

    judged_row_check(
        &rules, "40.5F=marker a30.6P=shown a20.4P=masked b20.7C=marker b10.3P=masked b5.9P=shown");
    /* Kept markers are no versions, in their column and in the next. */
    rules.keep_deleted = PETAL_KEEP_DELETED_TRUE;
    judged_row_check(
        &rules, "a30.6C=shown a20.5C=shown a10.4C=shown b30.6P=shown b20.5P=shown b10.9P=surplus");
    judged_row_check(&rules, "a30.6C=shown a20.7P=shown a10.8P=shown b30.6C=shown b20.7P=shown");
}
