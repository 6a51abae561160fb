-- Faces of accounts, and what is left of an account that was deleted: its id, which others' things go on naming.
ALTER TABLE users ADD COLUMN avatar TEXT;
ALTER TABLE users ADD COLUMN deleted_at TIMESTAMPTZ;

-- Who may choose a new password, after the code was right: as a hash, one an account.
CREATE TABLE reset_tokens (
  user_id UUID PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  token_hash TEXT NOT NULL UNIQUE,
  expires_at TIMESTAMPTZ NOT NULL
);

-- Accounts at an OpenID provider, and whose log-in they are here.
CREATE TABLE external_logins (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  linked_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (issuer, subject)
);
CREATE INDEX external_logins_by_user ON external_logins (user_id);

-- One-time codes that an application turns into a session after such a log-in: as hashes.
CREATE TABLE login_codes (
  code_hash TEXT PRIMARY KEY,
  user_id UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  code_challenge TEXT NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL
);

-- Who was asked into a project; a membership comes of it when that person accepts.
CREATE TABLE project_invitations (
  id UUID PRIMARY KEY,
  project_id UUID NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  role TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  invited_by_id UUID NOT NULL REFERENCES users (id),
  created_at TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL,
  accepted_at TIMESTAMPTZ,
  revoked_at TIMESTAMPTZ
);
CREATE INDEX project_invitations_by_project ON project_invitations (project_id, email);

-- What counts against a limit that holds across restarts: a class of calls, whose (as a keyed hash), and when.
-- It takes the place of code_requests, which knew codes alone.
CREATE TABLE attempts (
  id UUID PRIMARY KEY,
  class TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  at TIMESTAMPTZ NOT NULL
);
CREATE INDEX attempts_by_key ON attempts (class, key_hash, at);
CREATE INDEX attempts_by_time ON attempts (at);
DROP TABLE code_requests;
