-- The sizes of all that is stored, which quotas are sums of.

-- What the text of a document takes, in bytes; 0 while there is none.
ALTER TABLE documents ADD COLUMN text_bytes BIGINT NOT NULL DEFAULT 0;
UPDATE documents SET text_bytes =
  COALESCE((SELECT octet_length(source_text) FROM document_texts WHERE document_id = documents.id), 0);
-- Answers the sum alone.
CREATE INDEX documents_by_size ON documents (project_id, size_bytes, text_bytes);
-- Of the file, while it is needed. Those of before are read soon.
ALTER TABLE item_imports ADD COLUMN size_bytes BIGINT NOT NULL DEFAULT 0;
CREATE INDEX projects_by_owner ON projects (owner_id);

-- What an operator has set in place of the settings; null: nothing, 0: no limit.
ALTER TABLE projects ADD COLUMN quota_bytes BIGINT;
ALTER TABLE users ADD COLUMN quota_bytes BIGINT;
