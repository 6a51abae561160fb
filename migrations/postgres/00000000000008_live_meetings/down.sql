DROP INDEX meetings_by_status;
CREATE INDEX meetings_by_status ON meetings (status);
