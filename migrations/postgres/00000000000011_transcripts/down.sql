DROP TABLE transcript_segments;
DROP TABLE transcripts;
ALTER TABLE recordings DROP COLUMN transcript;
