-- For programs from 0006 on.
-- A bound login is its tenant, whatever a statement does while it runs. Until now each row was compared with the tenant
-- that was set at that moment, while the login was checked once: a statement that set another tenant in between passed.

-- The tenant of this statement: of a bound login the one it is bound to; of a login with several tenants the one that
-- is set, if it is one of them; of any other login the one that is set. Its path ends with pg_temp, so that no object
-- of the session's own replaces one of these.
CREATE FUNCTION commonplace.current_tenant() RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  bound text[] := ARRAY(SELECT logins.tenant FROM commonplace.logins WHERE logins.login = session_user::text);
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
REVOKE ALL ON FUNCTION commonplace.current_tenant() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION commonplace.current_tenant() TO commonplace_member;

-- As a query of its own it is asked once a statement. An index serves it, so that a row of another tenant is not even
-- met on the way to one's own.
DO $$
DECLARE
  each name;
  own text := 'tenant = (SELECT commonplace.current_tenant())';
BEGIN
  FOR each IN
    SELECT relname FROM pg_policy JOIN pg_class ON pg_class.oid = polrelid
    WHERE polname = 'own_rows' AND relnamespace = 'commonplace'::regnamespace
  LOOP
    EXECUTE format('ALTER POLICY own_rows ON commonplace.%I USING (%s) WITH CHECK (%s)', each, own, own);
  END LOOP;
END
$$;

-- What the lexemes of an index begin with: the first five bytes of the BLAKE2b hash (of that length) of its tenant, a
-- zero byte and its territory. Programs compute the same; here it says which lexemes an index may look up.
CREATE FUNCTION commonplace.index_mark(tenant text, territory text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  start_state CONSTANT bigint[] := ARRAY[7640891576956012808, -4942790177534073029, 4354685564936845355,
    -6534734903238641935, 5840696475078001361, -7276294671716946913, 2270897969802886507, 6620516959819538809];
  orders CONSTANT int[] := ARRAY[
    [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15], [14,10,4,8,9,15,13,6,1,12,0,2,11,7,5,3],
    [11,8,12,0,5,2,15,13,10,14,3,6,7,1,9,4], [7,9,3,1,13,12,11,14,2,6,5,10,4,0,15,8],
    [9,0,5,7,2,4,10,15,14,1,11,12,6,8,3,13], [2,12,6,10,0,11,8,3,4,13,7,5,15,14,1,9],
    [12,5,1,15,14,13,4,10,0,7,6,3,9,2,8,11], [13,11,7,14,12,1,3,9,5,0,15,4,8,6,2,10],
    [6,15,14,9,11,3,0,8,12,2,13,7,1,4,10,5], [10,2,8,4,7,6,1,5,15,11,9,14,3,12,13,0]];
  corners CONSTANT int[] := ARRAY[[1,5,9,13], [2,6,10,14], [3,7,11,15], [4,8,12,16],
    [1,6,11,16], [2,7,12,13], [3,8,9,14], [4,5,10,15]];
  turns CONSTANT int[] := ARRAY[[32,24], [16,63]];
  low CONSTANT bigint := 4294967295;  -- numbers have 64 bits and wrap around, so they are added by halves
  message bytea := convert_to(tenant, 'UTF8') || '\x00'::bytea || convert_to(territory, 'UTF8');
  size int := octet_length(message);
  blocks int := (size + 127) / 128;
  h bigint[] := start_state;
  v bigint[];  -- the sixteen numbers that are mixed
  m bigint[];  -- the block as sixteen numbers
  a int; b int; c int; d int; n bigint; sum_low bigint; sum_high bigint; turn int;
BEGIN
  h[1] := h[1] # 16842757;  -- no key, a hash of five bytes
  message := message || decode(repeat('00', blocks * 128 - size), 'hex');
  FOR block IN 0 .. blocks - 1 LOOP
    FOR word IN 0 .. 15 LOOP
      n := 0;
      FOR place IN REVERSE 7 .. 0 LOOP
        n := (n << 8) | get_byte(message, block * 128 + word * 8 + place);
      END LOOP;
      m[word] := n;
    END LOOP;
    v := h || start_state;
    v[13] := v[13] # least(size, (block + 1) * 128);
    IF block = blocks - 1 THEN
      v[15] := ~v[15];
    END IF;
    FOR step IN 0 .. 191 LOOP  -- twelve rounds of eight steps of two halves
      a := corners[step / 2 % 8 + 1][1];
      b := corners[step / 2 % 8 + 1][2];
      c := corners[step / 2 % 8 + 1][3];
      d := corners[step / 2 % 8 + 1][4];
      n := m[orders[step / 16 % 10 + 1][step % 16 + 1]];
      sum_low := (v[a] & low) + (v[b] & low) + (n & low);
      sum_high := ((v[a] >> 32) & low) + ((v[b] >> 32) & low) + ((n >> 32) & low) + (sum_low >> 32);
      v[a] := (sum_high << 32) | (sum_low & low);
      n := v[d] # v[a];
      turn := turns[step % 2 + 1][1];
      v[d] := (n << (64 - turn)) | ((n >> turn) & ((1::bigint << (64 - turn)) - 1));
      sum_low := (v[c] & low) + (v[d] & low);
      sum_high := ((v[c] >> 32) & low) + ((v[d] >> 32) & low) + (sum_low >> 32);
      v[c] := (sum_high << 32) | (sum_low & low);
      n := v[b] # v[c];
      turn := turns[step % 2 + 1][2];
      v[b] := (n << (64 - turn)) | ((n >> turn) & ((1::bigint << (64 - turn)) - 1));
    END LOOP;
    FOR place IN 1 .. 8 LOOP
      h[place] := h[place] # v[place] # v[place + 8];
    END LOOP;
  END LOOP;
  RETURN (  -- the lowest byte comes first
    SELECT string_agg(encode(substr(int8send(h[1]), place, 1), 'hex'), '' ORDER BY place DESC)
    FROM generate_series(4, 8) AS place
  );
END
$$;
REVOKE ALL ON FUNCTION commonplace.index_mark(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION commonplace.index_mark(text, text) TO commonplace_member;

-- Computed by the server: nobody can claim the mark of another.
ALTER TABLE commonplace.indexes ADD COLUMN mark text COLLATE "C"
  GENERATED ALWAYS AS (commonplace.index_mark(tenant, territory)) STORED;

-- As before, for the tenant of this statement, and only for single lexemes with the mark of its index: the words of
-- others are not looked for at all, so that neither the answer nor its cost tells of them. The names in this function
-- are resolved here, not when it is called: it runs as the owner of the tables.
CREATE OR REPLACE FUNCTION commonplace.index_lookup(asked_territory text, lexemes text[])
RETURNS TABLE (place bigint, id bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off ROWS 500
BEGIN ATOMIC
  WITH own AS MATERIALIZED (
    SELECT indexes.tenant, indexes.mark FROM commonplace.indexes
    WHERE indexes.tenant = (SELECT commonplace.current_tenant()) AND indexes.territory = asked_territory
  ), asked AS MATERIALIZED (
    SELECT given.place, given.lexeme::tsquery AS query FROM unnest(lexemes) WITH ORDINALITY AS given(lexeme, place)
  ), allowed AS MATERIALIZED (
    SELECT asked.place, asked.query, own.tenant FROM asked, own
    WHERE numnode(asked.query) = 1 AND starts_with(asked.query::text, '''' || own.mark)
    AND right(asked.query::text, 1) = ''''  -- no prefix and no weights
  )
  SELECT allowed.place, found.id
  FROM allowed CROSS JOIN LATERAL (
    SELECT words.id FROM commonplace.index_words AS words
    WHERE words.words @@ allowed.query
    -- not by the primary key: for a large tenant that would be all its rows
    AND words.tenant || '' = allowed.tenant AND words.territory || '' = asked_territory
  ) AS found;
END;
ALTER FUNCTION commonplace.index_settle() SET search_path = pg_catalog, pg_temp;

DROP FUNCTION commonplace.may_be_tenant();
