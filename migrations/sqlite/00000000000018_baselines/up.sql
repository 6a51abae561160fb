-- Copies of a project's requirements and stories as they stood. Written once, and deleted with the project alone.
CREATE TABLE baselines (
  id BLOB PRIMARY KEY NOT NULL,
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  -- From 1, without a hole.
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  note TEXT,
  requirements INTEGER NOT NULL,
  user_stories INTEGER NOT NULL,
  acceptance_criteria INTEGER NOT NULL,
  created_by_id BLOB NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  UNIQUE (project_id, number)
) STRICT;
CREATE INDEX baselines_by_user ON baselines (created_by_id);

CREATE TABLE baseline_items (
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  baseline_id BLOB NOT NULL,
  item_id BLOB NOT NULL,
  kind TEXT NOT NULL,
  number INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (project_id, baseline_id, item_id)
) STRICT;

