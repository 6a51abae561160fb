DROP INDEX documents_by_uploader;
DROP INDEX jobs_failed;
DROP INDEX jobs_leased;
DROP INDEX jobs_in_turn;
DROP INDEX jobs_waiting;
ALTER TABLE jobs DROP COLUMN waiting_since;
ALTER TABLE jobs DROP COLUMN claims;
ALTER TABLE jobs DROP COLUMN fair_key;
CREATE INDEX jobs_by_time ON jobs (run_at);
