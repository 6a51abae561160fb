-- Live meetings are looked for every second: those that began too long ago, without reading all of them.
DROP INDEX meetings_by_status;
CREATE INDEX meetings_by_status ON meetings (status, started_at);
