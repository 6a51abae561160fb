-- An operator wants a job that waits or runs to end without another attempt.
ALTER TABLE jobs ADD COLUMN discarded_at timestamptz;
