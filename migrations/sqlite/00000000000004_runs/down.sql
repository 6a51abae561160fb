DROP TABLE run_items;
DROP TABLE run_drafts;
ALTER TABLE runs DROP COLUMN taken_up;
