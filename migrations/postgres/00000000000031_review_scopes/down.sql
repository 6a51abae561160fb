ALTER TABLE review_invitations DROP COLUMN selected_count;
ALTER TABLE review_invitations DROP COLUMN selected_items;
ALTER TABLE review_invitations DROP COLUMN baseline_id;
ALTER TABLE review_invitations DROP COLUMN scope;
