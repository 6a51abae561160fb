-- How far the host's clocks were from UTC when the time of a meeting was written: e-mails show the time as they do.
ALTER TABLE meetings ADD COLUMN scheduled_offset_minutes INTEGER NOT NULL DEFAULT 0;
