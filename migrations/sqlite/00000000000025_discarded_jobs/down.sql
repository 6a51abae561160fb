ALTER TABLE jobs DROP COLUMN discarded_at;
