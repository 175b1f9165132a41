/* write.h -- what the engine's other parts need of the write path (engine/write.c). */
#ifndef PETAL_ENGINE_WRITE_H
#define PETAL_ENGINE_WRITE_H

#include "engine/db.h"
#include "engine/record.h"

/* Take the write leadership for other work; no write runs until write_lead_end. */
void write_lead_alone(petal_db *db, struct write_place *place);
void write_lead_end(petal_db *db, struct write_place *place);

/* Add a cell, whose room is reserved, to its store's active memtable. LEADER. */
enum petal_status write_apply_cell(petal_db *db, const struct write_cell *write);

#endif
