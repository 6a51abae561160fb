-- Whether an approval in the project has to be signed by its owner: password or sign-in again.
ALTER TABLE projects ADD COLUMN signed_approvals INTEGER NOT NULL DEFAULT 0;

-- The head of a project's approval trail: how many events it has, and the hash of the last one.
CREATE TABLE approval_trails (
  project_id BLOB PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  last INTEGER NOT NULL,
  head TEXT NOT NULL
) STRICT;

-- The trail: append-only. `sealed` is the text that the hash is of. The name of the actor is beside it, so that it can be erased with the
-- account: the text has a salted digest of it.
CREATE TABLE approval_events (
  id BLOB PRIMARY KEY NOT NULL,
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  target_type TEXT NOT NULL,
  target_id BLOB NOT NULL,
  action TEXT NOT NULL,
  actor_id BLOB NOT NULL,
  actor_name TEXT,
  actor_salt TEXT NOT NULL,
  sealed TEXT NOT NULL,
  hash TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX approval_events_by_number ON approval_events (project_id, number);
CREATE INDEX approval_events_by_target ON approval_events (project_id, target_id, id);
CREATE INDEX approval_events_named ON approval_events (actor_id, id) WHERE actor_name IS NOT NULL;
