DROP INDEX proposals_by_import;
ALTER TABLE proposals DROP COLUMN import_id;
DROP TABLE item_imports;
