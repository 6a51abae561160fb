DROP TABLE tracker_issues;
DROP TABLE tracker_export_items;
DROP TABLE tracker_exports;
DROP TABLE tracker_destinations;
DROP TABLE pending_tracker_connections;
DROP TABLE tracker_connections;
