-- Finds the transcripts that expire first, where the settings say how long they are kept.
CREATE INDEX transcripts_by_age ON transcripts (created_at);
