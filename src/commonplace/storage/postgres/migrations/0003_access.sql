-- Who may come in, by the hash of a token, and who called what. An end that is empty never comes; no agents named means
-- all of them.
CREATE TABLE commonplace.access_tokens (
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  id text COLLATE "C" NOT NULL,
  digest text COLLATE "C" NOT NULL,
  agents text[],
  role text NOT NULL CHECK (role IN ('read', 'write', 'admin')),
  note text NOT NULL,
  created_at text COLLATE "C" NOT NULL,
  expires_at text COLLATE "C" NOT NULL,
  revoked_at text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, id)
);

-- Rows have no number: it would say how much others call.
CREATE TABLE commonplace.access_calls (
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  at text COLLATE "C" NOT NULL,
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  token text NOT NULL,
  agent text NOT NULL,
  tool text NOT NULL,
  session text NOT NULL,
  outcome text NOT NULL,
  remote text NOT NULL,
  PRIMARY KEY (tenant, at, id)
);

ALTER TABLE commonplace.access_tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE commonplace.access_tokens FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON commonplace.access_tokens
  USING (tenant = current_setting('commonplace.tenant', true))
  WITH CHECK (tenant = current_setting('commonplace.tenant', true));

ALTER TABLE commonplace.access_calls ENABLE ROW LEVEL SECURITY;
ALTER TABLE commonplace.access_calls FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON commonplace.access_calls
  USING (tenant = current_setting('commonplace.tenant', true))
  WITH CHECK (tenant = current_setting('commonplace.tenant', true));

-- A token is revoked, not removed, and what was logged stays as it was: letting go of either is an owner's to do.
GRANT SELECT, INSERT, UPDATE ON commonplace.access_tokens TO commonplace_member;
GRANT SELECT, INSERT ON commonplace.access_calls TO commonplace_member;
