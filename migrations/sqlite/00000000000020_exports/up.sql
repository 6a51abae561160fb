-- Files that members exported from a dashboard. A file is kept until it expires, its row a day longer.
CREATE TABLE dashboard_exports (
  id BLOB PRIMARY KEY NOT NULL,
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  -- Null: no run of the project had a result.
  run_id BLOB,
  status TEXT NOT NULL,
  format TEXT NOT NULL,
  -- As JSON.
  filters TEXT NOT NULL,
  file_name TEXT NOT NULL,
  -- Of a file that is ready.
  sha256 TEXT,
  size_bytes INTEGER,
  -- Why it failed.
  error TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX dashboard_exports_by_project ON dashboard_exports (project_id, created_at);
CREATE INDEX dashboard_exports_by_expiry ON dashboard_exports (expires_at);
CREATE INDEX dashboard_exports_by_content ON dashboard_exports (sha256);
