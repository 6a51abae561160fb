DROP TABLE proposal_links;
DROP TABLE proposal_texts;
DROP TABLE proposals;
ALTER TABLE run_results DROP COLUMN composed_at;
ALTER TABLE run_items DROP COLUMN content_key;
DROP INDEX items_by_change;
DROP INDEX items_touched;
ALTER TABLE items DROP COLUMN content_key;
ALTER TABLE items DROP COLUMN touched;
