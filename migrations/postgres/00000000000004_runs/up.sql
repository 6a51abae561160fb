-- How often work at the attempt was begun: saved before it begins.
ALTER TABLE runs ADD COLUMN taken_up BIGINT NOT NULL DEFAULT 0;

-- What an unfinished run found: it is written in portions, counts for nobody, and becomes the project's in the transaction that
-- completes the run. Whatever ends the run empties this.
CREATE TABLE run_drafts (
  run_id UUID PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  attempt BIGINT NOT NULL,
  result TEXT NOT NULL,
  generated_at TIMESTAMPTZ NOT NULL,
  last_requirement BIGINT,
  last_story BIGINT
);
CREATE TABLE run_items (
  run_id UUID NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  id UUID NOT NULL,
  project_id UUID NOT NULL,
  kind TEXT NOT NULL,
  number BIGINT NOT NULL,
  text_key TEXT NOT NULL,
  item_type TEXT NOT NULL,
  priority TEXT NOT NULL,
  workflow_status TEXT NOT NULL,
  search_text TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at TIMESTAMPTZ NOT NULL,
  updated_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (run_id, id)
);

-- Left by runs that were cancelled or failed while their results were written: they counted for nobody. What a later run found
-- again, or somebody reviewed, was written anew under the same run, and stays.
DELETE FROM items WHERE run_id NOT IN (SELECT run_id FROM run_results) AND updated_at = created_at;
DELETE FROM run_nodes WHERE run_id IN (SELECT id FROM runs WHERE status NOT IN ('QUEUED', 'PROCESSING'));
