DROP TABLE approval_events;
DROP TABLE approval_trails;
ALTER TABLE projects DROP COLUMN signed_approvals;
