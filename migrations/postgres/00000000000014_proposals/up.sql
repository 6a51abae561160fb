-- Whether a person has judged, edited or accepted an item, which stays so; and the hash of the content that the analysis last found for it,
-- empty where it is not known.
ALTER TABLE items ADD COLUMN touched BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE items ADD COLUMN content_key TEXT NOT NULL DEFAULT '';
UPDATE items SET touched = TRUE WHERE workflow_status <> 'NEEDS_REVIEW';
CREATE INDEX items_touched ON items (project_id, kind, id) WHERE touched;
CREATE INDEX items_by_change ON items (project_id, updated_at);
ALTER TABLE run_items ADD COLUMN content_key TEXT NOT NULL DEFAULT '';
-- As of when a result shows the items of its project.
ALTER TABLE run_results ADD COLUMN composed_at TIMESTAMPTZ;
UPDATE run_results SET composed_at = generated_at;

-- What a run would add, change or reject, had a person not reviewed items of the project. A DRAFT counts for nobody: it becomes OPEN in
-- the transaction that completes its run, and goes with the attempt that does not. Many change their status at once: the texts are
-- beside, and no index has the status, and there is room for the new row where the former one is.
CREATE TABLE proposals (
  id UUID PRIMARY KEY,
  project_id UUID NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  run_id UUID NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  -- The item; of a NEW one that is not accepted: the one that it would become.
  item_id UUID NOT NULL,
  target_type TEXT NOT NULL,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  text_key TEXT NOT NULL,
  content_key TEXT NOT NULL,
  -- The version of the item for which it was made.
  target_version BIGINT,
  created_at TIMESTAMPTZ NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX proposals_by_project ON proposals (project_id, id);
CREATE INDEX proposals_by_item ON proposals (project_id, item_id);
CREATE INDEX proposals_by_run ON proposals (run_id);

CREATE TABLE proposal_texts (
  proposal_id UUID PRIMARY KEY REFERENCES proposals (id) ON DELETE CASCADE,
  before_body TEXT,
  after_body TEXT
);

-- What refers to a requirement that is only proposed: an item gets the reference once both exist.
CREATE TABLE proposal_links (
  proposal_id UUID NOT NULL REFERENCES proposals (id) ON DELETE CASCADE,
  from_id UUID NOT NULL,
  reference TEXT NOT NULL,
  PRIMARY KEY (proposal_id, from_id, reference)
);

-- The open proposals about items that a run has a say about: they are superseded if it completes.
CREATE TABLE run_supersedes (
  run_id UUID NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  proposal_id UUID NOT NULL,
  PRIMARY KEY (run_id, proposal_id)
);
