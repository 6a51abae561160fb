-- The glossary of a project; none is stored before the first one is written.
CREATE TABLE glossaries (
  project_id BLOB NOT NULL PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  version INTEGER NOT NULL,
  -- JSON: [{term, definition or null, spellings}, …]. Read and replaced as a whole.
  entries TEXT NOT NULL
) STRICT;
