-- What is over is found by the time at which it is, so that it goes page by page and nothing else is looked at.
CREATE INDEX codes_by_end ON codes (expires_at);
CREATE INDEX login_codes_by_end ON login_codes (expires_at);
CREATE INDEX reset_tokens_by_end ON reset_tokens (expires_at);
CREATE INDEX registrations_by_time ON registrations (created_at);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);
CREATE INDEX jobs_by_failure ON jobs (failed_at) WHERE failed_at IS NOT NULL;
CREATE INDEX project_invitations_by_end ON project_invitations (expires_at);
CREATE INDEX project_invitations_by_email ON project_invitations (email);

-- What nodes gave is worth keeping for so long alone; what was kept before this step was is over.
ALTER TABLE run_nodes ADD COLUMN kept_at timestamptz NOT NULL DEFAULT to_timestamp(0);
CREATE INDEX run_nodes_by_time ON run_nodes (kept_at);

-- Since when a token is worth nothing; of those before this step: since now.
ALTER TABLE former_invitation_tokens ADD COLUMN replaced_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX former_invitation_tokens_by_time ON former_invitation_tokens (replaced_at);

-- Of 10,000 events of a topic that follow each other exactly one is in here: so few name the topics that are long.
CREATE INDEX events_of_long_topics ON events (topic) WHERE position % 10000 = 0;

-- What a run found goes with it, without a look at what all others found.
CREATE INDEX items_by_run ON items (run_id);
