DROP TABLE recording_chunks;
DROP TABLE recordings;
ALTER TABLE consents DROP COLUMN text;
