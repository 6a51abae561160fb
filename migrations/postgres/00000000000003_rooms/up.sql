-- How people come to a meeting, how they are connected, and what they agreed to.
ALTER TABLE participants ADD COLUMN invitation_id UUID;
ALTER TABLE participants ADD COLUMN first_joined_at TIMESTAMPTZ;
ALTER TABLE participants ADD COLUMN removed_by_id UUID;
-- Of who is in the meeting: AWAITED, SOCKET (and perhaps media), MEDIA, or LOST since lost_at.
ALTER TABLE participants ADD COLUMN link TEXT;
ALTER TABLE participants ADD COLUMN lost_at TIMESTAMPTZ;
-- The newest connection that the media server told of.
ALTER TABLE participants ADD COLUMN media_session TEXT;
ALTER TABLE participants ADD COLUMN media_began_at TIMESTAMPTZ;
ALTER TABLE participants ADD COLUMN media_is_open BOOLEAN;
-- Their last answer; all of them are in consents.
ALTER TABLE participants ADD COLUMN consent_decision TEXT;
ALTER TABLE participants ADD COLUMN consent_scopes TEXT;
ALTER TABLE participants ADD COLUMN consent_wording_version TEXT;
ALTER TABLE participants ADD COLUMN consent_language TEXT;
ALTER TABLE participants ADD COLUMN consent_text_hash TEXT;
ALTER TABLE participants ADD COLUMN consent_at TIMESTAMPTZ;
CREATE UNIQUE INDEX participants_one_each ON participants (meeting_id, user_id) WHERE user_id IS NOT NULL;
CREATE INDEX participants_linked ON participants (link) WHERE link IS NOT NULL;
CREATE INDEX participants_lost ON participants (lost_at) WHERE lost_at IS NOT NULL;

-- Since when a live meeting has nobody in it, and where its ledger of consents ends.
ALTER TABLE meetings ADD COLUMN empty_since TIMESTAMPTZ;
ALTER TABLE meetings ADD COLUMN ledger_entries BIGINT NOT NULL DEFAULT 0;
ALTER TABLE meetings ADD COLUMN ledger_head TEXT NOT NULL DEFAULT '0000000000000000000000000000000000000000000000000000000000000000';
UPDATE meetings SET empty_since = started_at WHERE status = 'LIVE';
CREATE INDEX meetings_empty ON meetings (empty_since) WHERE empty_since IS NOT NULL;

-- Who agreed to what, when, to which words: only added to, each entry bound to the one before by its hash. The user
-- agent's text alone may be erased, with the account it belongs to.
CREATE TABLE consents (
  meeting_id UUID NOT NULL REFERENCES meetings (id) ON DELETE CASCADE,
  number BIGINT NOT NULL,
  participant_id UUID NOT NULL,
  decision TEXT NOT NULL,
  scopes TEXT NOT NULL,
  wording_version TEXT NOT NULL,
  language TEXT NOT NULL,
  text_hash TEXT NOT NULL,
  at TIMESTAMPTZ NOT NULL,
  user_agent TEXT,
  user_agent_hash TEXT NOT NULL,
  previous_hash TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (meeting_id, number)
);

-- Who was asked to a meeting. What became of it is read from the facts and the clock; the place that comes of it has its
-- id from the beginning.
CREATE TABLE meeting_invitations (
  id UUID PRIMARY KEY,
  meeting_id UUID NOT NULL REFERENCES meetings (id) ON DELETE CASCADE,
  invitee_type TEXT NOT NULL,
  email TEXT NOT NULL,
  display_name TEXT,
  user_id UUID REFERENCES users (id),
  role TEXT NOT NULL,
  participant_id UUID NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  message TEXT,
  delivery TEXT NOT NULL,
  invited_by_id UUID NOT NULL REFERENCES users (id),
  send_count BIGINT NOT NULL,
  last_sent_at TIMESTAMPTZ NOT NULL,
  ics_sequence BIGINT NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL,
  -- Chosen by who invited: then it doesn't move with the meeting.
  is_expiry_chosen BOOLEAN NOT NULL,
  accepted_at TIMESTAMPTZ,
  declined_at TIMESTAMPTZ,
  revoked_at TIMESTAMPTZ,
  created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX meeting_invitations_by_meeting ON meeting_invitations (meeting_id, id);
CREATE INDEX meeting_invitations_by_user ON meeting_invitations (user_id);
CREATE INDEX meeting_invitations_by_email ON meeting_invitations (email);

-- The tokens that an invitation had before it was sent again: they are known, and worth nothing.
CREATE TABLE former_invitation_tokens (
  token_hash TEXT PRIMARY KEY,
  invitation_id UUID NOT NULL REFERENCES meeting_invitations (id) ON DELETE CASCADE
);
CREATE INDEX former_invitation_tokens_by_invitation ON former_invitation_tokens (invitation_id);
