-- The size of the file that a version was attached as to a recording: it counts for its project.
ALTER TABLE transcripts ADD COLUMN attached_bytes INTEGER;
