ALTER TABLE runs DROP COLUMN document_versions;
ALTER TABLE documents DROP COLUMN version_created_at;
ALTER TABLE documents DROP COLUMN newest_version;
ALTER TABLE documents DROP COLUMN version;
DROP TABLE document_versions;
