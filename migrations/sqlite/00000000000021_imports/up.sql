-- Files that came back with changed items. Only what such a file would change is kept, as proposals; the file goes once it is read.
CREATE TABLE item_imports (
  id BLOB PRIMARY KEY NOT NULL,
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  -- The run to whose dashboard new items come.
  run_id BLOB NOT NULL,
  status TEXT NOT NULL,
  format TEXT NOT NULL,
  file_name TEXT NOT NULL,
  -- Of the file, while it is needed.
  sha256 TEXT,
  -- What was found in it, as JSON; once it was read.
  report TEXT,
  -- Why it failed.
  error TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX item_imports_by_project ON item_imports (project_id, id);
CREATE INDEX item_imports_by_age ON item_imports (created_at);
CREATE INDEX item_imports_by_content ON item_imports (sha256);

-- The import that proposes it; null: a run does.
ALTER TABLE proposals ADD COLUMN import_id BLOB;
CREATE INDEX proposals_by_import ON proposals (import_id) WHERE import_id IS NOT NULL;
