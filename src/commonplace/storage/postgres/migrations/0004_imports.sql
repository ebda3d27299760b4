-- What was imported from other systems, and as what: hashes that say nothing of it, so that a second import knows what a
-- person changed or removed since.
CREATE TABLE commonplace.imports (
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  key text COLLATE "C" NOT NULL,
  version text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, key)
);

ALTER TABLE commonplace.imports ENABLE ROW LEVEL SECURITY;
ALTER TABLE commonplace.imports FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON commonplace.imports
  USING (tenant = current_setting('commonplace.tenant', true))
  WITH CHECK (tenant = current_setting('commonplace.tenant', true));

GRANT SELECT, INSERT, UPDATE, DELETE ON commonplace.imports TO commonplace_member;
