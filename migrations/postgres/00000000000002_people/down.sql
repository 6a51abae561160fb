DROP INDEX participants_by_user;
DROP INDEX users_by_avatar;
DROP INDEX sessions_by_end;
DROP INDEX idempotency_keys_by_user;
ALTER TABLE idempotency_keys DROP COLUMN user_id;
CREATE TABLE code_requests (
  id UUID PRIMARY KEY,
  address_hash TEXT NOT NULL,
  client_hash TEXT NOT NULL,
  at TIMESTAMPTZ NOT NULL
);
CREATE INDEX code_requests_by_address ON code_requests (address_hash, at);
CREATE INDEX code_requests_by_client ON code_requests (client_hash, at);
DROP TABLE attempts;
DROP TABLE project_invitations;
DROP TABLE login_codes;
DROP TABLE external_logins;
DROP TABLE reset_tokens;
ALTER TABLE users DROP COLUMN deleted_at;
ALTER TABLE users DROP COLUMN avatar;
