-- Whether a person has judged, edited or accepted an item, which stays so; and the hash of the content that the analysis last found for it,
-- empty where it is not known.
ALTER TABLE items ADD COLUMN touched INTEGER NOT NULL DEFAULT 0;
ALTER TABLE items ADD COLUMN content_key TEXT NOT NULL DEFAULT '';
UPDATE items SET touched = 1 WHERE workflow_status <> 'NEEDS_REVIEW';
CREATE INDEX items_touched ON items (project_id, kind, id) WHERE touched;
CREATE INDEX items_by_change ON items (project_id, updated_at);
ALTER TABLE run_items ADD COLUMN content_key TEXT NOT NULL DEFAULT '';
-- As of when a result shows the items of its project.
ALTER TABLE run_results ADD COLUMN composed_at INTEGER;
UPDATE run_results SET composed_at = generated_at;

-- What a run would add, change or reject, had a person not reviewed items of the project. A DRAFT counts for nobody: it becomes OPEN in
-- the transaction that completes its run, and goes with the attempt that does not. Many change their status at once: the texts are
-- beside, and no index has the status.
CREATE TABLE proposals (
  id BLOB PRIMARY KEY NOT NULL,
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  run_id BLOB NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  -- The item; of a NEW one that is not accepted: the one that it would become.
  item_id BLOB NOT NULL,
  target_type TEXT NOT NULL,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  text_key TEXT NOT NULL,
  content_key TEXT NOT NULL,
  -- The version of the item for which it was made.
  target_version INTEGER,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX proposals_by_project ON proposals (project_id, id);
CREATE INDEX proposals_by_item ON proposals (project_id, item_id);
CREATE INDEX proposals_by_run ON proposals (run_id);

CREATE TABLE proposal_texts (
  proposal_id BLOB PRIMARY KEY NOT NULL REFERENCES proposals (id) ON DELETE CASCADE,
  before_body TEXT,
  after_body TEXT
) STRICT;

-- What refers to a requirement that is only proposed: an item gets the reference once both exist.
CREATE TABLE proposal_links (
  proposal_id BLOB NOT NULL REFERENCES proposals (id) ON DELETE CASCADE,
  from_id BLOB NOT NULL,
  reference TEXT NOT NULL,
  PRIMARY KEY (proposal_id, from_id, reference)
) STRICT, WITHOUT ROWID;

-- The open proposals about items that a run has a say about: they are superseded if it completes.
CREATE TABLE run_supersedes (
  run_id BLOB NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  proposal_id BLOB NOT NULL,
  PRIMARY KEY (run_id, proposal_id)
) STRICT, WITHOUT ROWID;
