-- Whose turn a job is: jobs of one kind are taken in turns, key by key.
ALTER TABLE jobs ADD COLUMN fair_key TEXT NOT NULL DEFAULT '';
-- How often a job was taken: what a former holder says of it counts no longer.
ALTER TABLE jobs ADD COLUMN claims INTEGER NOT NULL DEFAULT 0;
-- When it was said that the job waits until run_at: a time that is still to come shows that the clock was set back.
ALTER TABLE jobs ADD COLUMN waiting_since INTEGER NOT NULL DEFAULT 0;

-- What waits, what is worked at and what has failed are found apart, each by an index that has nothing else.
DROP INDEX jobs_by_time;
CREATE INDEX jobs_waiting ON jobs (kind, run_at) WHERE failed_at IS NULL AND lease_until IS NULL;
CREATE INDEX jobs_in_turn ON jobs (kind, fair_key, run_at, id) WHERE failed_at IS NULL AND lease_until IS NULL;
CREATE INDEX jobs_leased ON jobs (id) WHERE lease_until IS NOT NULL;
CREATE INDEX jobs_failed ON jobs (id) WHERE failed_at IS NOT NULL;

-- How many documents of somebody are still to be read.
CREATE INDEX documents_by_uploader ON documents (uploaded_by_id, status);
