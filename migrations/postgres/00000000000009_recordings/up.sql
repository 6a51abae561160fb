-- The recordings of meetings. Written together with the meeting, by its journal.
CREATE TABLE recordings (
  id UUID PRIMARY KEY,
  meeting_id UUID NOT NULL REFERENCES meetings (id) ON DELETE CASCADE,
  -- NULL: a recording of everyone.
  track_participant_id UUID,
  upload_mode TEXT NOT NULL,
  mime_type TEXT NOT NULL,
  basis TEXT NOT NULL,
  status TEXT NOT NULL,
  failure_reason TEXT,
  last_chunk BIGINT,
  repairable BOOLEAN NOT NULL,
  stopped_at TIMESTAMPTZ,
  ready_at TIMESTAMPTZ,
  -- When the content is deleted, or was.
  expires_at TIMESTAMPTZ,
  sha256 TEXT,
  content_bytes BIGINT,
  duration_ms BIGINT,
  -- All chunks before this one are stored; which ones behind it are stored is in recording_chunks.
  next_chunk BIGINT NOT NULL,
  chunk_count BIGINT NOT NULL,
  received_bytes BIGINT NOT NULL,
  latest_chunk_at TIMESTAMPTZ,
  upload BIGINT NOT NULL,
  announced_bytes BIGINT,
  announced_ms BIGINT,
  -- JSON: [[from, to or null], …] in milliseconds since 1970, and the participants whose consent is missing.
  pauses TEXT NOT NULL,
  lacking TEXT NOT NULL,
  started_by_id UUID NOT NULL REFERENCES users (id),
  started_at TIMESTAMPTZ NOT NULL,
  -- What it waits for, and since when; an EXPIRY until when.
  wait TEXT,
  wait_since TIMESTAMPTZ
);
CREATE INDEX recordings_by_meeting ON recordings (meeting_id, id);
CREATE INDEX recordings_by_wait ON recordings (wait, wait_since) WHERE wait IS NOT NULL;
CREATE INDEX recordings_by_user ON recordings (started_by_id);

-- The stored chunks of recordings; for a recording that is uploaded as one file, its parts.
CREATE TABLE recording_chunks (
  recording_id UUID NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  number BIGINT NOT NULL,
  meeting_id UUID NOT NULL,
  -- The name of the file that has the bytes.
  file_id UUID NOT NULL,
  bytes BIGINT NOT NULL,
  sha256 TEXT NOT NULL,
  from_ms BIGINT,
  to_ms BIGINT,
  stored_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (recording_id, number)
);
CREATE INDEX recording_chunks_by_meeting ON recording_chunks (meeting_id);

-- The host's own words, where no wording of the service was agreed to.
ALTER TABLE consents ADD COLUMN text TEXT;
