-- The recordings of meetings. Written together with the meeting, by its journal.
CREATE TABLE recordings (
  id BLOB NOT NULL PRIMARY KEY,
  meeting_id BLOB NOT NULL REFERENCES meetings (id) ON DELETE CASCADE,
  -- NULL: a recording of everyone.
  track_participant_id BLOB,
  upload_mode TEXT NOT NULL,
  mime_type TEXT NOT NULL,
  basis TEXT NOT NULL,
  status TEXT NOT NULL,
  failure_reason TEXT,
  last_chunk INTEGER,
  repairable INTEGER NOT NULL,
  stopped_at INTEGER,
  ready_at INTEGER,
  -- When the content is deleted, or was.
  expires_at INTEGER,
  sha256 TEXT,
  content_bytes INTEGER,
  duration_ms INTEGER,
  -- All chunks before this one are stored; which ones behind it are stored is in recording_chunks.
  next_chunk INTEGER NOT NULL,
  chunk_count INTEGER NOT NULL,
  received_bytes INTEGER NOT NULL,
  latest_chunk_at INTEGER,
  upload INTEGER NOT NULL,
  announced_bytes INTEGER,
  announced_ms INTEGER,
  -- JSON: [[from, to or null], …] in milliseconds since 1970, and the participants whose consent is missing.
  pauses TEXT NOT NULL,
  lacking TEXT NOT NULL,
  started_by_id BLOB NOT NULL REFERENCES users (id),
  started_at INTEGER NOT NULL,
  -- What it waits for, and since when; an EXPIRY until when.
  wait TEXT,
  wait_since INTEGER
) STRICT;
CREATE INDEX recordings_by_meeting ON recordings (meeting_id, id);
CREATE INDEX recordings_by_wait ON recordings (wait, wait_since) WHERE wait IS NOT NULL;
CREATE INDEX recordings_by_user ON recordings (started_by_id);

-- The stored chunks of recordings; for a recording that is uploaded as one file, its parts.
CREATE TABLE recording_chunks (
  recording_id BLOB NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  meeting_id BLOB NOT NULL,
  -- The name of the file that has the bytes.
  file_id BLOB NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  from_ms INTEGER,
  to_ms INTEGER,
  stored_at INTEGER NOT NULL,
  PRIMARY KEY (recording_id, number)
) STRICT;
CREATE INDEX recording_chunks_by_meeting ON recording_chunks (meeting_id);

-- The host's own words, where no wording of the service was agreed to.
ALTER TABLE consents ADD COLUMN text TEXT;
