CREATE OR REPLACE FUNCTION search_note_item() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO search_pending (kind, source_id) VALUES ('ITEM', coalesce(NEW.id, OLD.id)); RETURN NULL; END $$;
CREATE OR REPLACE FUNCTION search_note_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO search_pending (kind, source_id) VALUES ('DOCUMENT', NEW.document_id); RETURN NULL; END $$;
CREATE OR REPLACE FUNCTION search_note_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO search_pending (kind, source_id) VALUES ('DOCUMENT', OLD.id); RETURN NULL; END $$;
CREATE OR REPLACE FUNCTION search_note_transcript() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_pending (kind, source_id) VALUES ('RECORDING', coalesce(NEW.recording_id, OLD.recording_id));
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION search_note_segment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_pending (kind, source_id) SELECT 'RECORDING', recording_id FROM transcripts WHERE id = NEW.transcript_id;
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION search_note_meeting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_pending (kind, source_id) SELECT 'RECORDING', id FROM recordings WHERE meeting_id = NEW.id;
  RETURN NULL;
END $$;
INSERT INTO search_pending (kind, source_id) SELECT kind, source_id FROM search_retries WHERE due_at IS NOT NULL;
DROP TABLE search_retries;
DROP INDEX search_pending_by_project;
ALTER TABLE search_pending DROP COLUMN project_id;
