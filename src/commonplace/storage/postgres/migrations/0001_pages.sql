-- Pages, their history, and what keeps writers apart. The tenant comes first in every key.

DO $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'commonplace_member') THEN
    CREATE ROLE commonplace_member NOLOGIN;
  END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  NULL;
END
$$;

-- Who migrates may act as a member; others are given that by `GRANT commonplace_member TO them`.
DO $$
BEGIN
  SET LOCAL ROLE commonplace_member;
  RESET ROLE;
EXCEPTION WHEN insufficient_privilege THEN
  EXECUTE format('GRANT commonplace_member TO %I', current_user);
END
$$;

GRANT USAGE ON SCHEMA commonplace TO commonplace_member;
GRANT SELECT ON commonplace.migrations TO commonplace_member;

-- One counter a tenant. It is raised in the transaction that writes, as its last lock: so the numbers come in the order
-- of the commits, and a reader that has seen one has seen all below it. Of removals up to `forgotten` some are not
-- known any more.
CREATE TABLE commonplace.tenants (
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  seq bigint NOT NULL,
  forgotten bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant)
);

-- A page that was removed stays as a row without data, as long as it has a history: who follows by seq learns of it.
CREATE TABLE commonplace.pages (
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  path text COLLATE "C" NOT NULL,
  data bytea,
  version text NOT NULL,
  size bigint NOT NULL,
  seq bigint NOT NULL,
  written_at timestamptz NOT NULL,
  PRIMARY KEY (tenant, path)
);
CREATE INDEX pages_by_seq ON commonplace.pages (tenant, seq);

-- Every version of every page: whole, or what replaced a span of the version before. `at` is text as the memory's clock
-- says it, so that it compares as it does elsewhere.
CREATE TABLE commonplace.history (
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  id text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  at text COLLATE "C" NOT NULL,
  version text NOT NULL,
  before text NOT NULL,
  tool text NOT NULL,
  agent text NOT NULL,
  session text NOT NULL,
  why text NOT NULL,
  call text NOT NULL,
  depth integer NOT NULL,
  span_start bigint,
  span_end bigint,
  data bytea NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE UNIQUE INDEX history_by_path ON commonplace.history (tenant, path, seq);
CREATE INDEX history_by_time ON commonplace.history (tenant, at);
ALTER TABLE commonplace.history ALTER COLUMN data SET STORAGE EXTERNAL;  -- it is compressed already

-- Something larger than a page that one writer holds at a time: a row that is inserted and never committed. Who wants
-- to insert the same one waits; nothing stays.
CREATE TABLE commonplace.locks (
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  name text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, name)
);

ALTER TABLE commonplace.tenants ENABLE ROW LEVEL SECURITY;
ALTER TABLE commonplace.tenants FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON commonplace.tenants
  USING (tenant = current_setting('commonplace.tenant', true))
  WITH CHECK (tenant = current_setting('commonplace.tenant', true));

ALTER TABLE commonplace.pages ENABLE ROW LEVEL SECURITY;
ALTER TABLE commonplace.pages FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON commonplace.pages
  USING (tenant = current_setting('commonplace.tenant', true))
  WITH CHECK (tenant = current_setting('commonplace.tenant', true));

ALTER TABLE commonplace.history ENABLE ROW LEVEL SECURITY;
ALTER TABLE commonplace.history FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON commonplace.history
  USING (tenant = current_setting('commonplace.tenant', true))
  WITH CHECK (tenant = current_setting('commonplace.tenant', true));

ALTER TABLE commonplace.locks ENABLE ROW LEVEL SECURITY;
ALTER TABLE commonplace.locks FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON commonplace.locks
  USING (tenant = current_setting('commonplace.tenant', true))
  WITH CHECK (tenant = current_setting('commonplace.tenant', true));

GRANT SELECT, INSERT, UPDATE, DELETE
  ON commonplace.tenants, commonplace.pages, commonplace.history, commonplace.locks TO commonplace_member;
