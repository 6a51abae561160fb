-- What a run had a say about, item by item: added, confirmed, changed or gone. Written with its draft; of a run without a result it
-- counts for nobody, and goes; of a run that is tried again, those of the attempt that has the result count.
CREATE TABLE run_findings (
  run_id BLOB NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  attempt INTEGER NOT NULL,
  item_id BLOB NOT NULL,
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  number INTEGER NOT NULL,
  effect TEXT NOT NULL,
  reason TEXT,
  proposal_id BLOB,
  -- The item as it was, if the run changes it: at least for as long as the run can be undone, until a later run is written down.
  before_body TEXT,
  PRIMARY KEY (run_id, attempt, item_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_findings_by_project ON run_findings (project_id);

-- Why a run takes what it found to be about the item.
ALTER TABLE proposals ADD COLUMN reason TEXT;

-- The short parts of a result, beside the whole.
ALTER TABLE run_results ADD COLUMN summary TEXT;
ALTER TABLE run_results ADD COLUMN metrics TEXT;
-- The attempt that it is of; null for a result of before.
ALTER TABLE run_results ADD COLUMN attempt INTEGER;
ALTER TABLE run_drafts ADD COLUMN summary TEXT;
ALTER TABLE run_drafts ADD COLUMN metrics TEXT;

-- Projects whose risks, questions, actions and decisions are in the results of their runs alone: the server makes items of them
-- when it starts.
CREATE TABLE unadopted_projects (
  project_id BLOB PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE
) STRICT;
INSERT INTO unadopted_projects SELECT DISTINCT runs.project_id FROM runs JOIN run_results ON run_results.run_id = runs.id;

-- What former runs added.
INSERT INTO run_findings (run_id, attempt, item_id, project_id, kind, number, effect)
  SELECT items.run_id, 0, items.id, items.project_id, items.kind, items.number, 'ADDED'
  FROM items JOIN run_results ON run_results.run_id = items.run_id;

-- Runs that were undone: what they found is no part of the specification.
CREATE TABLE run_undos (
  run_id BLOB PRIMARY KEY NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  undone_at INTEGER NOT NULL,
  undone_by_id BLOB NOT NULL
) STRICT;
