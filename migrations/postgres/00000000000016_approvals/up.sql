-- Whether an approval in the project has to be signed by its owner: password or sign-in again.
ALTER TABLE projects ADD COLUMN signed_approvals BOOLEAN NOT NULL DEFAULT FALSE;

-- The head of a project's approval trail: how many events it has, and the hash of the last one.
CREATE TABLE approval_trails (
  project_id UUID PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  last BIGINT NOT NULL,
  head TEXT NOT NULL
);

-- The trail: append-only. `sealed` is the text that the hash is of. The name of the actor is beside it, so that it can be erased with the
-- account: the text has a salted digest of it.
CREATE TABLE approval_events (
  id UUID PRIMARY KEY NOT NULL,
  project_id UUID NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  number BIGINT NOT NULL,
  target_type TEXT NOT NULL,
  target_id UUID NOT NULL,
  action TEXT NOT NULL,
  actor_id UUID NOT NULL,
  actor_name TEXT,
  actor_salt TEXT NOT NULL,
  sealed TEXT NOT NULL,
  hash TEXT NOT NULL
);
CREATE UNIQUE INDEX approval_events_by_number ON approval_events (project_id, number);
CREATE INDEX approval_events_by_target ON approval_events (project_id, target_id, id);
CREATE INDEX approval_events_named ON approval_events (actor_id, id) WHERE actor_name IS NOT NULL;
