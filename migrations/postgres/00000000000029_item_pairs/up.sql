-- Pairs of requirements that may repeat or contradict each other, and what people made of them. The first one of a pair has the
-- lower number.
CREATE TABLE item_pairs (
  id UUID PRIMARY KEY NOT NULL,
  project_id UUID NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  first_id UUID NOT NULL REFERENCES items (id) ON DELETE CASCADE,
  second_id UUID NOT NULL REFERENCES items (id) ON DELETE CASCADE,
  -- The words of both when they were compared: what was settled about other words does not count.
  first_key TEXT NOT NULL,
  second_key TEXT NOT NULL,
  strength TEXT NOT NULL,
  -- In hundredths.
  confidence BIGINT NOT NULL,
  reason TEXT NOT NULL,
  -- The places in the statements of both that the claim rests on, as JSON.
  spans TEXT NOT NULL,
  status TEXT NOT NULL,
  settlement TEXT,
  settled_by_id UUID,
  settled_at TIMESTAMPTZ,
  -- Which one was kept when the other was rejected, and what was moved to it, as JSON, so that it can be taken back.
  moved TEXT,
  -- The run that added the second one.
  run_id UUID NOT NULL,
  created_at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX item_pairs_by_items ON item_pairs (first_id, second_id);
CREATE INDEX item_pairs_by_second ON item_pairs (second_id);
CREATE INDEX item_pairs_by_project ON item_pairs (project_id, status);

-- Projects whose requirements have changed since they were compared with each other. A job is enqueued with each row.
CREATE TABLE uncompared_projects (
  project_id UUID PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE
);
INSERT INTO uncompared_projects SELECT DISTINCT project_id FROM items WHERE kind = 'REQUIREMENT';
