-- For programs from 0006 on.
-- A bound login stays bound when it is renamed: it is known by its number as well as by its name. By name alone, a renamed
-- login would have been one that is bound to no tenant, and could have named any. A name that is used again stays bound too.
ALTER TABLE commonplace.logins ADD COLUMN role oid;
ALTER TABLE commonplace.logins ALTER COLUMN role SET STATISTICS 0;
UPDATE commonplace.logins SET role = to_regrole(quote_ident(login))::oid;
CREATE INDEX logins_role ON commonplace.logins (role);

ALTER POLICY own_login ON commonplace.logins
  USING (login = session_user::text OR role = to_regrole(quote_ident(session_user::text))::oid);

CREATE OR REPLACE FUNCTION commonplace.current_tenant() RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  bound text[] := ARRAY(
    SELECT DISTINCT logins.tenant FROM commonplace.logins
    WHERE logins.login = session_user::text OR logins.role = to_regrole(quote_ident(session_user::text))::oid
  );
  asked text := current_setting('commonplace.tenant', true);
BEGIN
  IF cardinality(bound) = 1 THEN
    RETURN bound[1];
  ELSIF cardinality(bound) = 0 OR asked = ANY (bound) THEN
    RETURN asked;
  END IF;
  RETURN NULL;
END
$$;
