-- The issue tracker that a project is connected to. Tokens are encrypted; the key and the row are part of what they are bound to.
CREATE TABLE tracker_connections (
  project_id BLOB PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  provider TEXT NOT NULL,
  status TEXT NOT NULL,
  -- Raised whenever the tokens change: who read them before finds out.
  generation INTEGER NOT NULL,
  -- The chosen one, and all that the account may use, as JSON.
  site TEXT,
  sites TEXT NOT NULL,
  account_name TEXT,
  scopes TEXT NOT NULL,
  -- Null once the connection was ended.
  tokens TEXT,
  expires_at INTEGER,
  -- While a process refreshes the tokens.
  refreshing_until INTEGER,
  connected_by_id BLOB NOT NULL REFERENCES users (id),
  connected_at INTEGER NOT NULL,
  last_error TEXT,
  -- When the states of issues were last asked for.
  polled_at INTEGER NOT NULL
) STRICT;
CREATE INDEX tracker_connections_by_poll ON tracker_connections (polled_at);

-- Connections that a manager has begun and not yet permitted at the tracker.
CREATE TABLE pending_tracker_connections (
  state_hash TEXT PRIMARY KEY NOT NULL,
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  user_id BLOB NOT NULL REFERENCES users (id),
  provider TEXT NOT NULL,
  browser_hash TEXT NOT NULL,
  -- The PKCE verifier, encrypted.
  verifier TEXT NOT NULL,
  return_url TEXT,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX pending_tracker_connections_by_project ON pending_tracker_connections (project_id);
CREATE INDEX pending_tracker_connections_by_age ON pending_tracker_connections (expires_at);

CREATE TABLE tracker_destinations (
  project_id BLOB PRIMARY KEY NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  destination TEXT NOT NULL
) STRICT;

CREATE TABLE tracker_exports (
  id BLOB PRIMARY KEY NOT NULL,
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  status TEXT NOT NULL,
  provider TEXT NOT NULL,
  destination TEXT NOT NULL,
  options TEXT NOT NULL,
  dry_run INTEGER NOT NULL,
  total INTEGER NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  skipped INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  error TEXT,
  waiting_until INTEGER,
  waiting_for TEXT,
  started_by_id BLOB NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  completed_at INTEGER
) STRICT;
CREATE INDEX tracker_exports_by_project ON tracker_exports (project_id, id);
-- One at a time in a project.
CREATE UNIQUE INDEX tracker_exports_active ON tracker_exports (project_id) WHERE status IN ('QUEUED', 'RUNNING');

CREATE TABLE tracker_export_items (
  export_id BLOB NOT NULL REFERENCES tracker_exports (id) ON DELETE CASCADE,
  user_story_id BLOB NOT NULL,
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  code TEXT NOT NULL,
  version INTEGER NOT NULL,
  status TEXT NOT NULL,
  issue_key TEXT,
  issue_url TEXT,
  error_code TEXT,
  error_message TEXT,
  attempts INTEGER NOT NULL,
  PRIMARY KEY (export_id, user_story_id)
) STRICT;
CREATE INDEX tracker_export_items_by_position ON tracker_export_items (export_id, position);
CREATE INDEX tracker_export_items_by_project ON tracker_export_items (project_id);

-- Which issue a story became, at each site. Without an issue id: one is being created, or was and the answer is missing.
CREATE TABLE tracker_issues (
  user_story_id BLOB NOT NULL,
  provider TEXT NOT NULL,
  site_id TEXT NOT NULL,
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  -- Where it was created, at the tracker.
  tracker_project_id TEXT NOT NULL,
  issue_id TEXT,
  issue_key TEXT,
  issue_url TEXT,
  intended_at INTEGER NOT NULL,
  -- Of the content that was sent last.
  fingerprint TEXT NOT NULL,
  state TEXT,
  is_gone INTEGER NOT NULL,
  PRIMARY KEY (user_story_id, provider, site_id)
) STRICT;
CREATE INDEX tracker_issues_by_project ON tracker_issues (project_id, provider, site_id);
