-- Copies of a project's requirements and stories as they stood. Written once, and deleted with the project alone.
CREATE TABLE baselines (
  id UUID PRIMARY KEY,
  project_id UUID NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  -- From 1, without a hole.
  number BIGINT NOT NULL,
  name TEXT NOT NULL,
  note TEXT,
  requirements BIGINT NOT NULL,
  user_stories BIGINT NOT NULL,
  acceptance_criteria BIGINT NOT NULL,
  created_by_id UUID NOT NULL REFERENCES users (id),
  created_at TIMESTAMPTZ NOT NULL,
  UNIQUE (project_id, number)
);
CREATE INDEX baselines_by_user ON baselines (created_by_id);

CREATE TABLE baseline_items (
  project_id UUID NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  baseline_id UUID NOT NULL,
  item_id UUID NOT NULL,
  kind TEXT NOT NULL,
  number BIGINT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (project_id, baseline_id, item_id)
);

