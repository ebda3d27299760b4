-- For programs from 0006 on.
-- The planner's statistics hold samples of all rows, and `EXPLAIN` estimates from them for whoever asks, whatever tenant a
-- row is of: by many questions a login could spell out values of others. So none are collected of texts, hashes and times.
-- Those of tenants, territories and numbers stay: they say how many rows there are, and plans need them.
DO $$
DECLARE
  each record;
BEGIN
  FOR each IN
    SELECT relname, string_agg(format('ALTER COLUMN %I SET STATISTICS 0', attname), ', ') AS statistics,
      -- a column that is given its own type again loses its statistics, and no row is rewritten
      string_agg(format('ALTER COLUMN %I TYPE %s%s', attname, format_type(atttypid, atttypmod),
        CASE WHEN attcollation = 0 THEN '' ELSE format(' COLLATE %I', collname) END), ', ') AS types
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid JOIN pg_type ON pg_type.oid = atttypid
    LEFT JOIN pg_collation ON pg_collation.oid = attcollation
    WHERE relnamespace = 'commonplace'::regnamespace AND relkind = 'r' AND relname <> 'logins' AND attnum > 0 AND NOT attisdropped
    AND typcategory <> 'N' AND attname NOT IN ('tenant', 'territory') AND attgenerated = ''
    AND coalesce(attstattarget, -1) <> 0 AND EXISTS (
      SELECT 1 FROM pg_attribute AS other WHERE other.attrelid = pg_class.oid AND other.attname = 'tenant')
    GROUP BY relname
  LOOP
    EXECUTE format('ALTER TABLE commonplace.%I %s', each.relname, each.types);
    EXECUTE format('ALTER TABLE commonplace.%I %s', each.relname, each.statistics);
  END LOOP;
END
$$;
ALTER TABLE commonplace.indexes ALTER COLUMN mark SET STATISTICS 0;
ALTER TABLE commonplace.logins ALTER COLUMN login SET STATISTICS 0, ALTER COLUMN tenant SET STATISTICS 0;
-- What a column forgets with its type: how it is stored.
ALTER TABLE commonplace.pages ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE commonplace.history ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE commonplace.index_vectors ALTER COLUMN vector SET STORAGE EXTERNAL;
