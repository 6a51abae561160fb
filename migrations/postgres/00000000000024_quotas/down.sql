ALTER TABLE users DROP COLUMN quota_bytes;
ALTER TABLE projects DROP COLUMN quota_bytes;
DROP INDEX projects_by_owner;
ALTER TABLE item_imports DROP COLUMN size_bytes;
DROP INDEX documents_by_size;
ALTER TABLE documents DROP COLUMN text_bytes;
