-- What has changed is indexed in turns, a project at a time: whoever has many changes does not hold up the others. Zeros are for what
-- belongs to no project any more.
ALTER TABLE search_pending ADD COLUMN project_id BLOB NOT NULL DEFAULT x'00000000000000000000000000000000';
UPDATE search_pending SET project_id = coalesce(
  (SELECT project_id FROM items WHERE id = search_pending.source_id),
  (SELECT project_id FROM documents WHERE id = search_pending.source_id),
  (SELECT m.project_id FROM recordings r JOIN meetings m ON m.id = r.meeting_id WHERE r.id = search_pending.source_id),
  (SELECT p.project_id FROM search_passages p WHERE p.source_id = search_pending.source_id LIMIT 1),
  x'00000000000000000000000000000000');
CREATE INDEX search_pending_by_project ON search_pending (project_id, id);

-- What could not be indexed, and when it is tried again; null while it is noted in search_pending once more.
CREATE TABLE search_retries (
  source_id BLOB PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL,
  project_id BLOB NOT NULL,
  failures INTEGER NOT NULL,
  due_at INTEGER
) STRICT;
CREATE INDEX search_retries_by_time ON search_retries (due_at);

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

CREATE TRIGGER search_item_added AFTER INSERT ON items
BEGIN INSERT INTO search_pending (kind, source_id, project_id) VALUES ('ITEM', NEW.id, NEW.project_id); END;
CREATE TRIGGER search_item_changed AFTER UPDATE ON items
WHEN NEW.body <> OLD.body OR NEW.workflow_status <> OLD.workflow_status
BEGIN INSERT INTO search_pending (kind, source_id, project_id) VALUES ('ITEM', NEW.id, NEW.project_id); END;
CREATE TRIGGER search_item_removed AFTER DELETE ON items
BEGIN INSERT INTO search_pending (kind, source_id, project_id) VALUES ('ITEM', OLD.id, OLD.project_id); END;

CREATE TRIGGER search_document_added AFTER INSERT ON document_texts
BEGIN
  INSERT INTO search_pending (kind, source_id, project_id)
  SELECT 'DOCUMENT', id, project_id FROM documents WHERE id = NEW.document_id;
END;
CREATE TRIGGER search_document_removed AFTER DELETE ON documents
BEGIN INSERT INTO search_pending (kind, source_id, project_id) VALUES ('DOCUMENT', OLD.id, OLD.project_id); END;

CREATE TRIGGER search_transcript_added AFTER INSERT ON transcripts WHEN NEW.status = 'READY'
BEGIN
  INSERT INTO search_pending (kind, source_id, project_id)
  SELECT 'RECORDING', r.id, m.project_id FROM recordings r JOIN meetings m ON m.id = r.meeting_id WHERE r.id = NEW.recording_id;
END;
CREATE TRIGGER search_transcript_changed AFTER UPDATE ON transcripts WHEN NEW.status <> OLD.status
BEGIN
  INSERT INTO search_pending (kind, source_id, project_id)
  SELECT 'RECORDING', r.id, m.project_id FROM recordings r JOIN meetings m ON m.id = r.meeting_id WHERE r.id = NEW.recording_id;
END;
-- Its recording and its meeting may be gone already.
CREATE TRIGGER search_transcript_removed AFTER DELETE ON transcripts
BEGIN
  INSERT INTO search_pending (kind, source_id, project_id) VALUES ('RECORDING', OLD.recording_id, coalesce(
    (SELECT m.project_id FROM recordings r JOIN meetings m ON m.id = r.meeting_id WHERE r.id = OLD.recording_id),
    (SELECT project_id FROM search_passages WHERE source_id = OLD.recording_id LIMIT 1),
    x'00000000000000000000000000000000'));
END;
CREATE TRIGGER search_segment_changed AFTER UPDATE ON transcript_segments WHEN NEW.text <> OLD.text
BEGIN
  INSERT INTO search_pending (kind, source_id, project_id)
  SELECT 'RECORDING', t.recording_id, m.project_id FROM transcripts t, meetings m WHERE t.id = NEW.transcript_id AND m.id = NEW.meeting_id;
END;
CREATE TRIGGER search_meeting_renamed AFTER UPDATE ON meetings WHEN NEW.title <> OLD.title
BEGIN
  INSERT INTO search_pending (kind, source_id, project_id)
  SELECT 'RECORDING', id, NEW.project_id FROM recordings WHERE meeting_id = NEW.id;
END;
