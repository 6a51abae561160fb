ALTER TABLE meetings DROP COLUMN scheduled_offset_minutes;
