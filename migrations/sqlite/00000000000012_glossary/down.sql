DROP TABLE glossaries;
