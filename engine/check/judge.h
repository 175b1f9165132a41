/* judge.h -- does a whole manifest belong to the files in its directory? */
#ifndef PETAL_ENGINE_CHECK_JUDGE_H
#define PETAL_ENGINE_CHECK_JUDGE_H

#include "engine/check/place.h"

/* If the files disprove the manifest, that is told, and it no longer counts as whole: one that was
 * cut short sets place->manifest_cut, one of another database is dropped. Fails only for lack of
 * memory or descriptors. */
enum petal_status judge_manifest(struct place *place, petal_error *error);

#endif
