-- The present version of a document is in `documents`, with its text in `document_texts`; the others are here: former ones, one that is
-- being read, and those that could not be read.
CREATE TABLE document_versions (
  -- No reference: a document is deleted at once, its former versions with their texts some at a time behind it.
  document_id BLOB NOT NULL,
  version INTEGER NOT NULL,
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
  created_at INTEGER NOT NULL,
  text_bytes INTEGER NOT NULL DEFAULT 0,
  reader_version TEXT,
  source_text TEXT,
  PRIMARY KEY (document_id, version)
) STRICT;
CREATE INDEX document_versions_by_content ON document_versions (sha256);
CREATE INDEX document_versions_by_uploader ON document_versions (uploaded_by_id, status);
-- Answers the sum alone.
CREATE INDEX document_versions_by_size ON document_versions (project_id, size_bytes, text_bytes);

-- Which version the present one is, from 1, and the newest one that was uploaded.
ALTER TABLE documents ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE documents ADD COLUMN newest_version INTEGER NOT NULL DEFAULT 1;
-- When the present version was uploaded; null: with the document.
ALTER TABLE documents ADD COLUMN version_created_at INTEGER;

-- The versions of a run's documents, in their order; for the runs of before, each has one.
ALTER TABLE runs ADD COLUMN document_versions TEXT NOT NULL DEFAULT '[]';

-- What was found before stands in the first version: items and results are answered as they are stored.
UPDATE items SET body = replace(body, ',"quote":"', ',"version":1,"quote":"') WHERE body LIKE '%,"quote":"%';
UPDATE run_items SET body = replace(body, ',"quote":"', ',"version":1,"quote":"') WHERE body LIKE '%,"quote":"%';
UPDATE run_findings SET before_body = replace(before_body, ',"quote":"', ',"version":1,"quote":"')
  WHERE before_body LIKE '%,"quote":"%';
UPDATE run_results SET result = replace(result, ',"quote":"', ',"version":1,"quote":"') WHERE result LIKE '%,"quote":"%';
UPDATE run_drafts SET result = replace(result, ',"quote":"', ',"version":1,"quote":"') WHERE result LIKE '%,"quote":"%';
