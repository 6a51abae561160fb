-- The release before knows one scope only: nobody sees more by it.
UPDATE review_invitations SET revoked_at = last_sent_at WHERE scope <> 'ALL' AND revoked_at IS NULL;
ALTER TABLE review_invitations DROP COLUMN selected_count;
ALTER TABLE review_invitations DROP COLUMN selected_items;
ALTER TABLE review_invitations DROP COLUMN baseline_id;
ALTER TABLE review_invitations DROP COLUMN scope;
