-- Whether the account may see and steer the whole installation: set on the server's machine, never over HTTP.
ALTER TABLE users ADD COLUMN is_operator BOOLEAN NOT NULL DEFAULT FALSE;
