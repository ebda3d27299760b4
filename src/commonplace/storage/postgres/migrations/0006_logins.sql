-- Logins that are bound to tenants: whatever SQL comes from one, it reaches no rows of others. It can reset its role and
-- name any tenant, but not become another login. A login that does not stand here may be any tenant.
CREATE TABLE commonplace.logins (
  login text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  PRIMARY KEY (login, tenant)
);

ALTER TABLE commonplace.logins ENABLE ROW LEVEL SECURITY;
ALTER TABLE commonplace.logins FORCE ROW LEVEL SECURITY;
CREATE POLICY own_login ON commonplace.logins FOR SELECT USING (login = session_user::text);
CREATE POLICY owner ON commonplace.logins TO CURRENT_USER USING (true) WITH CHECK (true);
GRANT SELECT ON commonplace.logins TO commonplace_member;

-- Whether the tenant that is set is one that this login may be. Its path is its own, so that nobody puts other
-- operators in the place of these.
CREATE FUNCTION commonplace.may_be_tenant() RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN coalesce((
    SELECT bool_or(logins.tenant = current_setting('commonplace.tenant', true))
    FROM commonplace.logins WHERE logins.login = session_user::text
  ), true);
END
$$;
REVOKE ALL ON FUNCTION commonplace.may_be_tenant() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION commonplace.may_be_tenant() TO commonplace_member;

-- As a query of its own it is asked once a statement, not once a row.
DO $$
DECLARE each name;
  mine text := 'tenant = current_setting(''commonplace.tenant'', true) AND (SELECT commonplace.may_be_tenant())';
BEGIN
  FOR each IN
    SELECT relname FROM pg_policy JOIN pg_class ON pg_class.oid = polrelid
    WHERE polname = 'own_rows' AND relnamespace = 'commonplace'::regnamespace
  LOOP
    EXECUTE format('ALTER POLICY own_rows ON commonplace.%I USING (%s) WITH CHECK (%s)', each, mine, mine);
  END LOOP;
END
$$;

-- What looks words up runs as the owner of the tables, and asks by itself whose they are.
CREATE OR REPLACE FUNCTION commonplace.index_lookup(asked_territory text, lexemes text[])
RETURNS TABLE (place bigint, id bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog SET enable_seqscan = off ROWS 500 AS $$
  SELECT asked.place, found.id
  FROM unnest(lexemes) WITH ORDINALITY AS asked(lexeme, place) CROSS JOIN LATERAL (
    SELECT words.id FROM commonplace.index_words AS words
    WHERE words.words @@ asked.lexeme::tsquery
    AND words.tenant || '' = current_setting('commonplace.tenant', true) AND words.territory || '' = asked_territory
  ) AS found
  WHERE (SELECT commonplace.may_be_tenant())
$$;
