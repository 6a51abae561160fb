-- What can be searched: a requirement, a user story, or a part of a document or of a transcript. `source_id` is the item, the document
-- or the recording. Written by one background task from what `search_pending` names.
CREATE TABLE search_passages (
  id INTEGER PRIMARY KEY NOT NULL,
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  source_id BLOB NOT NULL,
  position INTEGER NOT NULL,
  code TEXT,
  title TEXT NOT NULL,
  text TEXT NOT NULL,
  -- Where the text begins in the document, in Unicode scalar values.
  starts_at INTEGER,
  -- When the text is said: [[where it ends in the text, from, to in milliseconds], …].
  times TEXT,
  UNIQUE (source_id, position)
) STRICT;
CREATE INDEX search_passages_by_code ON search_passages (project_id, code);

-- The folded words of the passages, which are separated by spaces: `ascii` splits there and changes nothing else. `scope` is the project.
CREATE VIRTUAL TABLE search_index USING fts5 (title, words, scope, tokenize = 'ascii', prefix = '2 3');
-- Deleted words are overwritten, not only marked.
INSERT INTO search_index (search_index, rank) VALUES ('secure-delete', 1);
CREATE TRIGGER search_passage_removed AFTER DELETE ON search_passages
BEGIN DELETE FROM search_index WHERE rowid = OLD.id; END;

-- In how many passages of a project each word is: among these are the words that a misspelt one may stand for.
CREATE TABLE search_words (
  project_id BLOB NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  word TEXT NOT NULL,
  passages INTEGER NOT NULL,
  PRIMARY KEY (project_id, word)
) STRICT, WITHOUT ROWID;

-- What has changed and is to be read again. Rows are only added and deleted, so that nobody waits for anybody.
CREATE TABLE search_pending (
  id INTEGER PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL,
  source_id BLOB NOT NULL
) STRICT;

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

INSERT INTO search_pending (kind, source_id) SELECT 'ITEM', id FROM items;
INSERT INTO search_pending (kind, source_id) SELECT 'DOCUMENT', document_id FROM document_texts;
INSERT INTO search_pending (kind, source_id) SELECT DISTINCT 'RECORDING', recording_id FROM transcripts WHERE status = 'READY';
