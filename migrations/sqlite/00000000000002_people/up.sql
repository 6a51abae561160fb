-- Faces of accounts, and what is left of an account that was deleted: its id, which others' things go on naming.
ALTER TABLE users ADD COLUMN avatar TEXT;
ALTER TABLE users ADD COLUMN deleted_at INTEGER;

-- Who may choose a new password, after the code was right: as a hash, one an account.
CREATE TABLE reset_tokens (
  user_id BLOB PRIMARY KEY NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  token_hash TEXT NOT NULL UNIQUE,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Accounts at an OpenID provider, and whose log-in they are here.
CREATE TABLE external_logins (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  linked_at INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX external_logins_by_user ON external_logins (user_id);

-- One-time codes that an application turns into a session after such a log-in: as hashes.
CREATE TABLE login_codes (
  code_hash TEXT PRIMARY KEY NOT NULL,
  user_id BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  code_challenge TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Who was asked into a project; a membership comes of it when that person accepts.
CREATE TABLE project_invitations (
  id BLOB PRIMARY KEY NOT NULL,
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  role TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  invited_by_id BLOB NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  accepted_at INTEGER,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX project_invitations_by_project ON project_invitations (project_id, email);

-- What counts against a limit that holds across restarts: a class of calls, whose (as a keyed hash), and when.
-- It takes the place of code_requests, which knew codes alone.
CREATE TABLE attempts (
  id BLOB PRIMARY KEY NOT NULL,
  class TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX attempts_by_key ON attempts (class, key_hash, at);
CREATE INDEX attempts_by_time ON attempts (at);
DROP TABLE code_requests;
