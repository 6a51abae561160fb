DROP TRIGGER search_item_added;
DROP TRIGGER search_item_changed;
DROP TRIGGER search_item_removed;
DROP TRIGGER search_document_added;
DROP TRIGGER search_document_removed;
DROP TRIGGER search_transcript_added;
DROP TRIGGER search_transcript_changed;
DROP TRIGGER search_transcript_removed;
DROP TRIGGER search_segment_changed;
DROP TRIGGER search_meeting_renamed;
INSERT INTO search_pending (kind, source_id) SELECT kind, source_id FROM search_retries WHERE due_at IS NOT NULL;
DROP TABLE search_retries;
DROP INDEX search_pending_by_project;
ALTER TABLE search_pending DROP COLUMN project_id;
CREATE TRIGGER search_item_added AFTER INSERT ON items
BEGIN INSERT INTO search_pending (kind, source_id) VALUES ('ITEM', NEW.id); END;
CREATE TRIGGER search_item_changed AFTER UPDATE ON items
WHEN NEW.body <> OLD.body OR NEW.workflow_status <> OLD.workflow_status
BEGIN INSERT INTO search_pending (kind, source_id) VALUES ('ITEM', NEW.id); END;
CREATE TRIGGER search_item_removed AFTER DELETE ON items
BEGIN INSERT INTO search_pending (kind, source_id) VALUES ('ITEM', OLD.id); END;
CREATE TRIGGER search_document_added AFTER INSERT ON document_texts
BEGIN INSERT INTO search_pending (kind, source_id) VALUES ('DOCUMENT', NEW.document_id); END;
CREATE TRIGGER search_document_removed AFTER DELETE ON documents
BEGIN INSERT INTO search_pending (kind, source_id) VALUES ('DOCUMENT', OLD.id); END;
CREATE TRIGGER search_transcript_added AFTER INSERT ON transcripts WHEN NEW.status = 'READY'
BEGIN INSERT INTO search_pending (kind, source_id) VALUES ('RECORDING', NEW.recording_id); END;
CREATE TRIGGER search_transcript_changed AFTER UPDATE ON transcripts WHEN NEW.status <> OLD.status
BEGIN INSERT INTO search_pending (kind, source_id) VALUES ('RECORDING', NEW.recording_id); END;
CREATE TRIGGER search_transcript_removed AFTER DELETE ON transcripts
BEGIN INSERT INTO search_pending (kind, source_id) VALUES ('RECORDING', OLD.recording_id); END;
CREATE TRIGGER search_segment_changed AFTER UPDATE ON transcript_segments WHEN NEW.text <> OLD.text
BEGIN
  INSERT INTO search_pending (kind, source_id) SELECT 'RECORDING', recording_id FROM transcripts WHERE id = NEW.transcript_id;
END;
CREATE TRIGGER search_meeting_renamed AFTER UPDATE ON meetings WHEN NEW.title <> OLD.title
BEGIN INSERT INTO search_pending (kind, source_id) SELECT 'RECORDING', id FROM recordings WHERE meeting_id = NEW.id; END;
