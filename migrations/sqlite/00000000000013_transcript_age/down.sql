DROP INDEX transcripts_by_age;
