-- Who is invited to review a project's results, and the access that accepting gives: one access for each invitation, so both are one row.
CREATE TABLE review_invitations (
  id BLOB PRIMARY KEY NOT NULL,
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  full_name TEXT,
  organisation TEXT,
  permission TEXT NOT NULL,
  -- The run whose results are shown; without one, the newest that has any. Runs go with their project alone.
  run_id BLOB,
  message TEXT,
  token_hash TEXT NOT NULL UNIQUE,
  invited_by_id BLOB NOT NULL REFERENCES users (id),
  send_count INTEGER NOT NULL,
  last_sent_at INTEGER NOT NULL,
  -- Of the link, and of the access.
  expires_at INTEGER NOT NULL,
  -- The same as long as nobody has accepted: then the row is deleted some time after.
  lapses_at INTEGER,
  accepted_at INTEGER,
  revoked_at INTEGER,
  -- Of the review token, and of the one before it.
  access_hash TEXT UNIQUE,
  former_access_hash TEXT UNIQUE,
  last_seen_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX review_invitations_by_project ON review_invitations (project_id, id);
CREATE INDEX review_invitations_by_address ON review_invitations (email);
CREATE INDEX review_invitations_by_lapse ON review_invitations (lapses_at);

-- The tokens that an invitation had before it was sent again: they are known, and worth nothing.
CREATE TABLE former_review_tokens (
  token_hash TEXT PRIMARY KEY NOT NULL,
  invitation_id BLOB NOT NULL REFERENCES review_invitations (id) ON DELETE CASCADE,
  replaced_at INTEGER NOT NULL
) STRICT;
CREATE INDEX former_review_tokens_by_invitation ON former_review_tokens (invitation_id);
CREATE INDEX former_review_tokens_by_age ON former_review_tokens (replaced_at);

CREATE TABLE feedback (
  id BLOB PRIMARY KEY NOT NULL,
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  -- The invitation of the reviewer who wrote it, which may be gone; or the member who did.
  invitation_id BLOB,
  author_id BLOB REFERENCES users (id),
  author_name TEXT NOT NULL,
  author_email TEXT,
  target_type TEXT NOT NULL,
  target_id BLOB,
  target_code TEXT,
  comment TEXT NOT NULL,
  verdict TEXT,
  status TEXT NOT NULL,
  is_read INTEGER NOT NULL,
  resolution_note TEXT,
  created_at INTEGER NOT NULL,
  resolved_at INTEGER
) STRICT;
CREATE INDEX feedback_by_project ON feedback (project_id, id);
CREATE INDEX feedback_by_invitation ON feedback (invitation_id, id);
CREATE INDEX feedback_by_author ON feedback (author_id);
CREATE INDEX feedback_by_address ON feedback (author_email);
