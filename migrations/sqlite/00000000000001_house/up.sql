-- Accounts: who may log in, how they prove an address, and where they are logged in.
CREATE TABLE users (
  id BLOB PRIMARY KEY NOT NULL,
  email TEXT NOT NULL UNIQUE,
  full_name TEXT NOT NULL,
  job_title TEXT,
  language TEXT NOT NULL,
  password_hash TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- An account that waits for its code; a newer registration of an address replaces the older one.
CREATE TABLE registrations (
  id BLOB PRIMARY KEY NOT NULL,
  email TEXT NOT NULL UNIQUE,
  full_name TEXT NOT NULL,
  language TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One-time codes, as keyed hashes; one row an address and purpose, the newest code alone counts.
CREATE TABLE codes (
  email TEXT NOT NULL,
  purpose TEXT NOT NULL,
  code_hash TEXT NOT NULL,
  tries_left INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (email, purpose)
) STRICT, WITHOUT ROWID;

-- When codes were asked for, so that the limits hold across restarts. Addresses as keyed hashes.
CREATE TABLE code_requests (
  id BLOB PRIMARY KEY NOT NULL,
  address_hash TEXT NOT NULL,
  client_hash TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX code_requests_by_address ON code_requests (address_hash, at);
CREATE INDEX code_requests_by_client ON code_requests (client_hash, at);

-- Logins. The refresh token is not kept: it is a keyed hash over id, salt and counter.
CREATE TABLE sessions (
  id BLOB PRIMARY KEY NOT NULL,
  user_id BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  salt TEXT NOT NULL,
  counter INTEGER NOT NULL,
  graced_counter INTEGER NOT NULL,
  device TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_user ON sessions (user_id);

CREATE TABLE projects (
  id BLOB PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  language TEXT NOT NULL,
  status TEXT NOT NULL,
  owner_id BLOB NOT NULL REFERENCES users (id),
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE members (
  id BLOB PRIMARY KEY NOT NULL,
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  user_id BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role TEXT NOT NULL,
  joined_at INTEGER NOT NULL,
  UNIQUE (project_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX members_by_user ON members (user_id);

-- Uploaded files; the bytes are in the file store under sha256.
CREATE TABLE documents (
  id BLOB PRIMARY KEY NOT NULL,
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  file_name TEXT NOT NULL,
  mime_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  status TEXT NOT NULL,
  page_count INTEGER,
  character_count INTEGER,
  language TEXT NOT NULL,
  error_message TEXT,
  uploaded_by_id BLOB NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX documents_by_project ON documents (project_id, id);
CREATE INDEX documents_by_content ON documents (sha256);

-- What a reader made of a file: never changed once it stands, so that quotes stay verifiable.
CREATE TABLE document_texts (
  document_id BLOB PRIMARY KEY NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  source_text TEXT NOT NULL,
  reader_version TEXT NOT NULL
) STRICT;

CREATE TABLE meetings (
  id BLOB PRIMARY KEY NOT NULL,
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  status TEXT NOT NULL,
  end_reason TEXT,
  closing_note TEXT,
  cancelled_by_id BLOB,
  cancelled_at INTEGER,
  consent_policy TEXT NOT NULL,
  created_by_id BLOB NOT NULL REFERENCES users (id),
  host_participant_id BLOB NOT NULL,
  scheduled_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  version INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX meetings_by_project ON meetings (project_id, id);
CREATE INDEX meetings_by_status ON meetings (status);

CREATE TABLE participants (
  id BLOB PRIMARY KEY NOT NULL,
  meeting_id BLOB NOT NULL REFERENCES meetings (id) ON DELETE CASCADE,
  user_id BLOB REFERENCES users (id),
  display_name TEXT NOT NULL,
  email TEXT,
  role TEXT NOT NULL,
  status TEXT NOT NULL,
  joined_at INTEGER,
  left_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX participants_by_meeting ON participants (meeting_id);

CREATE TABLE runs (
  id BLOB PRIMARY KEY NOT NULL,
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  created_by_id BLOB NOT NULL REFERENCES users (id),
  meeting_id BLOB,
  document_ids TEXT NOT NULL,
  analysis_type TEXT NOT NULL,
  language TEXT NOT NULL,
  engine TEXT NOT NULL,
  input_hash TEXT NOT NULL,
  status TEXT NOT NULL,
  progress INTEGER NOT NULL,
  node TEXT NOT NULL,
  message TEXT NOT NULL,
  error_message TEXT,
  ai_job_id BLOB NOT NULL,
  attempt INTEGER NOT NULL,
  warnings TEXT NOT NULL,
  revision INTEGER NOT NULL,
  started_at INTEGER,
  completed_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_project ON runs (project_id, id);
CREATE INDEX runs_by_status ON runs (status);
-- Two starts over the same input can't both be unfinished.
CREATE UNIQUE INDEX runs_unfinished ON runs (project_id, input_hash) WHERE status IN ('QUEUED', 'PROCESSING');

-- What each node of the pipeline gave, so that a killed run goes on where it was.
CREATE TABLE run_nodes (
  run_id BLOB NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  attempt INTEGER NOT NULL,
  node TEXT NOT NULL,
  input_hash TEXT NOT NULL,
  engine_version TEXT NOT NULL,
  output TEXT NOT NULL,
  PRIMARY KEY (run_id, attempt, node)
) STRICT;

-- What a finished run found, as it was found.
CREATE TABLE run_results (
  run_id BLOB PRIMARY KEY NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  result TEXT NOT NULL,
  generated_at INTEGER NOT NULL
) STRICT;

-- The project's requirements and stories as they stand: `body` is the resource as its GET gives it.
CREATE TABLE items (
  id BLOB PRIMARY KEY NOT NULL,
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  run_id BLOB NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  number INTEGER NOT NULL,
  text_key TEXT NOT NULL,
  item_type TEXT NOT NULL,
  priority TEXT NOT NULL,
  workflow_status TEXT NOT NULL,
  search_text TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (project_id, kind, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX items_by_key ON items (project_id, kind, text_key);

-- The last number given to an item of a kind: numbers are never given twice.
CREATE TABLE item_numbers (
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (project_id, kind)
) STRICT, WITHOUT ROWID;

-- Events as rows: a push is never the only copy of anything.
CREATE TABLE topics (
  topic TEXT PRIMARY KEY NOT NULL,
  epoch BLOB NOT NULL,
  last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE events (
  topic TEXT NOT NULL,
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  data TEXT NOT NULL,
  at INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  PRIMARY KEY (topic, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX events_by_time ON events (at);

-- Requests with an Idempotency-Key: who asked what, and what was answered.
CREATE TABLE idempotency_keys (
  scope TEXT PRIMARY KEY NOT NULL,
  body_hash TEXT NOT NULL,
  resource_id BLOB NOT NULL,
  lease_until INTEGER NOT NULL,
  status INTEGER,
  etag TEXT,
  body TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at);

-- What is done later: mail, reading of documents.
CREATE TABLE jobs (
  id BLOB PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL,
  payload TEXT NOT NULL,
  request_id TEXT NOT NULL,
  run_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  lease_until INTEGER,
  last_error TEXT,
  failed_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_by_time ON jobs (run_at);

-- Which server has this database: one at a time.
CREATE TABLE server_lease (
  id INTEGER PRIMARY KEY NOT NULL,
  holder BLOB NOT NULL,
  epoch INTEGER NOT NULL,
  lease_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
