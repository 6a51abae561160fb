-- What can be searched: a requirement, a user story, or a part of a document or of a transcript. `source_id` is the item, the document
-- or the recording. Written by one background task from what `search_pending` names.
CREATE TABLE search_passages (
  id BIGINT PRIMARY KEY,
  project_id UUID NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  source_id UUID NOT NULL,
  position BIGINT NOT NULL,
  code TEXT,
  title TEXT NOT NULL,
  text TEXT NOT NULL,
  -- Where the text begins in the document, in Unicode scalar values.
  starts_at BIGINT,
  -- When the text is said: [[where it ends in the text, from, to in milliseconds], …].
  times TEXT,
  UNIQUE (source_id, position)
);
CREATE INDEX search_passages_by_code ON search_passages (project_id, code);

-- The folded words of the passages, with their positions, as the server writes them (those of the title have the weight A, those of
-- the text B), and the project as a word of its own. No configuration is asked, so that both databases know the same words.
CREATE TABLE search_index (
  passage_id BIGINT PRIMARY KEY REFERENCES search_passages (id) ON DELETE CASCADE,
  words TSVECTOR NOT NULL
);
CREATE INDEX search_index_by_word ON search_index USING gin (words);

-- In how many passages of a project each word is: among these are the words that a misspelt one may stand for.
CREATE TABLE search_words (
  project_id UUID NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  word TEXT COLLATE "C" NOT NULL,
  passages BIGINT NOT NULL,
  PRIMARY KEY (project_id, word)
);

-- What has changed and is to be read again. Rows are only added and deleted, so that nobody waits for anybody.
CREATE TABLE search_pending (
  id BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  kind TEXT NOT NULL,
  source_id UUID NOT NULL
);

CREATE FUNCTION search_note_item() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO search_pending (kind, source_id) VALUES ('ITEM', coalesce(NEW.id, OLD.id)); RETURN NULL; END $$;
CREATE TRIGGER search_item_added AFTER INSERT OR DELETE ON items FOR EACH ROW EXECUTE FUNCTION search_note_item();
CREATE TRIGGER search_item_changed AFTER UPDATE ON items FOR EACH ROW
WHEN (NEW.body <> OLD.body OR NEW.workflow_status <> OLD.workflow_status) EXECUTE FUNCTION search_note_item();

CREATE FUNCTION search_note_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO search_pending (kind, source_id) VALUES ('DOCUMENT', NEW.document_id); RETURN NULL; END $$;
CREATE TRIGGER search_document_added AFTER INSERT ON document_texts FOR EACH ROW EXECUTE FUNCTION search_note_text();
CREATE FUNCTION search_note_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO search_pending (kind, source_id) VALUES ('DOCUMENT', OLD.id); RETURN NULL; END $$;
CREATE TRIGGER search_document_removed AFTER DELETE ON documents FOR EACH ROW EXECUTE FUNCTION search_note_document();

CREATE FUNCTION search_note_transcript() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_pending (kind, source_id) VALUES ('RECORDING', coalesce(NEW.recording_id, OLD.recording_id));
  RETURN NULL;
END $$;
CREATE TRIGGER search_transcript_added AFTER INSERT ON transcripts FOR EACH ROW
WHEN (NEW.status = 'READY') EXECUTE FUNCTION search_note_transcript();
CREATE TRIGGER search_transcript_changed AFTER UPDATE ON transcripts FOR EACH ROW
WHEN (NEW.status <> OLD.status) EXECUTE FUNCTION search_note_transcript();
CREATE TRIGGER search_transcript_removed AFTER DELETE ON transcripts FOR EACH ROW EXECUTE FUNCTION search_note_transcript();
CREATE FUNCTION search_note_segment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_pending (kind, source_id) SELECT 'RECORDING', recording_id FROM transcripts WHERE id = NEW.transcript_id;
  RETURN NULL;
END $$;
CREATE TRIGGER search_segment_changed AFTER UPDATE ON transcript_segments FOR EACH ROW
WHEN (NEW.text <> OLD.text) EXECUTE FUNCTION search_note_segment();
CREATE FUNCTION search_note_meeting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_pending (kind, source_id) SELECT 'RECORDING', id FROM recordings WHERE meeting_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER search_meeting_renamed AFTER UPDATE ON meetings FOR EACH ROW
WHEN (NEW.title <> OLD.title) EXECUTE FUNCTION search_note_meeting();

INSERT INTO search_pending (kind, source_id) SELECT 'ITEM', id FROM items;
INSERT INTO search_pending (kind, source_id) SELECT 'DOCUMENT', document_id FROM document_texts;
INSERT INTO search_pending (kind, source_id) SELECT DISTINCT 'RECORDING', recording_id FROM transcripts WHERE status = 'READY';
