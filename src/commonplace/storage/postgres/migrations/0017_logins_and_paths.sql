-- For programs from 0006 on.
-- Which login is bound to which tenant is nobody else's business. The policy hid the rows of others from answers, but not
-- from `EXPLAIN ANALYZE`: an index was asked for the login and the tenant that a condition names before the policy was, and
-- the rows that it then removed were counted. A condition is used before a policy only if nothing it calls may leak, and
-- `reverse` is not such a function: so these indexes serve the policy, and no condition of a login. (Older programs go on,
-- but a login is bound with this one.)
ALTER TABLE commonplace.logins DROP CONSTRAINT logins_pkey;
DROP INDEX commonplace.logins_role;
CREATE UNIQUE INDEX logins_by_login ON commonplace.logins (reverse(login), reverse(tenant));
CREATE INDEX logins_by_role ON commonplace.logins (reverse(role::text));
ALTER INDEX commonplace.logins_by_login ALTER COLUMN 1 SET STATISTICS 0, ALTER COLUMN 2 SET STATISTICS 0;
ALTER INDEX commonplace.logins_by_role ALTER COLUMN 1 SET STATISTICS 0;

ALTER POLICY own_login ON commonplace.logins
  USING (reverse(login) = reverse(session_user::text)
    OR reverse(role::text) = reverse(to_regrole(quote_ident(session_user::text))::oid::text));

-- A path that leads nowhere, such as `../x` or `a//b`: no program writes one, but a login might, and an export of its tenant
-- would stop at it. Rows that are there already are not looked at.
ALTER TABLE commonplace.pages ADD CONSTRAINT pages_path CHECK (path !~ '(^|/)\.{0,2}(/|$)') NOT VALID;
ALTER TABLE commonplace.history ADD CONSTRAINT history_path CHECK (path !~ '(^|/)\.{0,2}(/|$)') NOT VALID;
