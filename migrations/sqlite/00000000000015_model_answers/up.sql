-- What a language model answered to the questions of a run, so that another attempt does not ask and pay again.
CREATE TABLE model_answers (
  run_id BLOB NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  question TEXT NOT NULL,
  answer TEXT NOT NULL,
  kept_at INTEGER NOT NULL,
  PRIMARY KEY (run_id, question)
) STRICT;
CREATE INDEX model_answers_by_time ON model_answers (kept_at);
