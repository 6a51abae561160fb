-- How often work at the attempt was begun: saved before it begins.
ALTER TABLE runs ADD COLUMN taken_up INTEGER NOT NULL DEFAULT 0;

-- What an unfinished run found: it is written in portions, counts for nobody, and becomes the project's in the transaction that
-- completes the run. Whatever ends the run empties this.
CREATE TABLE run_drafts (
  run_id BLOB PRIMARY KEY NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  attempt INTEGER NOT NULL,
  result TEXT NOT NULL,
  generated_at INTEGER NOT NULL,
  last_requirement INTEGER,
  last_story INTEGER
) STRICT;
CREATE TABLE run_items (
  run_id BLOB NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  id BLOB NOT NULL,
  project_id BLOB NOT NULL,
  kind TEXT NOT NULL,
  number INTEGER NOT NULL,
  text_key TEXT NOT NULL,
  item_type TEXT NOT NULL,
  priority TEXT NOT NULL,
  workflow_status TEXT NOT NULL,
  search_text TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (run_id, id)
) STRICT;

-- Left by runs that were cancelled or failed while their results were written: they counted for nobody. What a later run found
-- again, or somebody reviewed, was written anew under the same run, and stays.
DELETE FROM items WHERE run_id NOT IN (SELECT run_id FROM run_results) AND updated_at = created_at;
DELETE FROM run_nodes WHERE run_id IN (SELECT id FROM runs WHERE status NOT IN ('QUEUED', 'PROCESSING'));
