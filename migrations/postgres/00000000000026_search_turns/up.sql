-- What has changed is indexed in turns, a project at a time: whoever has many changes does not hold up the others. Zeros are for what
-- belongs to no project any more.
ALTER TABLE search_pending ADD COLUMN project_id UUID NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000';
UPDATE search_pending SET project_id = coalesce(
  (SELECT i.project_id FROM items i WHERE i.id = search_pending.source_id),
  (SELECT d.project_id FROM documents d WHERE d.id = search_pending.source_id),
  (SELECT m.project_id FROM recordings r JOIN meetings m ON m.id = r.meeting_id WHERE r.id = search_pending.source_id),
  (SELECT p.project_id FROM search_passages p WHERE p.source_id = search_pending.source_id LIMIT 1),
  '00000000-0000-0000-0000-000000000000');
CREATE INDEX search_pending_by_project ON search_pending (project_id, id);

-- What could not be indexed, and when it is tried again; null while it is noted in search_pending once more.
CREATE TABLE search_retries (
  source_id UUID PRIMARY KEY,
  kind TEXT NOT NULL,
  project_id UUID NOT NULL,
  failures BIGINT NOT NULL,
  due_at TIMESTAMPTZ
);
CREATE INDEX search_retries_by_time ON search_retries (due_at);

CREATE OR REPLACE FUNCTION search_note_item() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_pending (kind, source_id, project_id)
  VALUES ('ITEM', coalesce(NEW.id, OLD.id), coalesce(NEW.project_id, OLD.project_id));
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION search_note_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_pending (kind, source_id, project_id)
  SELECT 'DOCUMENT', id, project_id FROM documents WHERE id = NEW.document_id;
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION search_note_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_pending (kind, source_id, project_id) VALUES ('DOCUMENT', OLD.id, OLD.project_id);
  RETURN NULL;
END $$;
-- The recording and the meeting of a transcript that is removed may be gone already.
CREATE OR REPLACE FUNCTION search_note_transcript() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  recording UUID := coalesce(NEW.recording_id, OLD.recording_id);
BEGIN
  INSERT INTO search_pending (kind, source_id, project_id) VALUES ('RECORDING', recording, coalesce(
    (SELECT m.project_id FROM recordings r JOIN meetings m ON m.id = r.meeting_id WHERE r.id = recording),
    (SELECT p.project_id FROM search_passages p WHERE p.source_id = recording LIMIT 1),
    '00000000-0000-0000-0000-000000000000'));
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION search_note_segment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_pending (kind, source_id, project_id)
  SELECT 'RECORDING', t.recording_id, m.project_id FROM transcripts t, meetings m
  WHERE t.id = NEW.transcript_id AND m.id = NEW.meeting_id;
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION search_note_meeting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_pending (kind, source_id, project_id)
  SELECT 'RECORDING', id, NEW.project_id FROM recordings WHERE meeting_id = NEW.id;
  RETURN NULL;
END $$;
