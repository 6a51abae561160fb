-- What of the specification the invited people see.
ALTER TABLE review_invitations ADD COLUMN scope TEXT NOT NULL DEFAULT 'ALL';
-- The baseline of the scope BASELINE. Baselines go with their project alone.
ALTER TABLE review_invitations ADD COLUMN baseline_id BLOB;
-- The ids of the scope SELECTED, as a JSON array, and their number.
ALTER TABLE review_invitations ADD COLUMN selected_items TEXT;
ALTER TABLE review_invitations ADD COLUMN selected_count INTEGER;
