ALTER TABLE transcripts DROP COLUMN attached_bytes;
