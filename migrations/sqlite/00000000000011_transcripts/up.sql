-- What a meeting knows of the transcript of a recording. Written by its journal.
ALTER TABLE recordings ADD COLUMN transcript TEXT NOT NULL DEFAULT 'NONE';

-- The transcripts of recordings: each attempt to make one anew is a version of its own.
CREATE TABLE transcripts (
  id BLOB NOT NULL PRIMARY KEY,
  recording_id BLOB NOT NULL REFERENCES recordings (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  status TEXT NOT NULL,
  engine TEXT NOT NULL,
  model TEXT NOT NULL,
  -- The language that was asked for, and the one that is spoken.
  asked_language TEXT,
  language TEXT,
  -- Everything before is transcribed, and in so many segments.
  done_ms INTEGER NOT NULL,
  segment_count INTEGER NOT NULL,
  -- How often the recogniser crashed.
  crashes INTEGER NOT NULL,
  error_message TEXT,
  created_by_id BLOB REFERENCES users (id),
  created_at INTEGER NOT NULL,
  UNIQUE (recording_id, number)
) STRICT;
CREATE INDEX transcripts_waiting ON transcripts (recording_id) WHERE status = 'WAITING_FOR_MODEL';
CREATE INDEX transcripts_by_user ON transcripts (created_by_id);

CREATE TABLE transcript_segments (
  transcript_id BLOB NOT NULL REFERENCES transcripts (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  meeting_id BLOB NOT NULL,
  start_ms INTEGER NOT NULL,
  end_ms INTEGER NOT NULL,
  text TEXT NOT NULL,
  -- In thousandths.
  confidence INTEGER NOT NULL,
  -- Who speaks, where somebody said so: a participant, or a name.
  participant_id BLOB,
  speaker_name TEXT,
  -- What the recogniser heard, where the text was corrected.
  heard_text TEXT,
  corrected_by_id BLOB REFERENCES users (id),
  corrected_at INTEGER,
  PRIMARY KEY (transcript_id, position)
) STRICT;
CREATE INDEX transcript_segments_by_meeting ON transcript_segments (meeting_id);
CREATE INDEX transcript_segments_by_user ON transcript_segments (corrected_by_id);
