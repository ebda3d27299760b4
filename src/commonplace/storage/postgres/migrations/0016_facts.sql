-- For programs from 0006 on.
-- Which passages have a statement under a key of a fact, and the statements of a passage, so that neither a write nor a
-- search reads them in texts. Older programs have an index of their own and leave these empty.
CREATE TABLE commonplace.index_facts (
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  territory text COLLATE "C" NOT NULL,
  fact bigint NOT NULL,
  id bigint NOT NULL,
  owner integer NOT NULL,
  PRIMARY KEY (tenant, territory, fact, id)
);

CREATE TABLE commonplace.index_statements (
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  territory text COLLATE "C" NOT NULL,
  id bigint NOT NULL,
  numbers bytea NOT NULL,
  parsed text NOT NULL,
  PRIMARY KEY (tenant, territory, id)
);

-- A fact is a hash of what was written, and no statistics are collected of that.
ALTER TABLE commonplace.index_facts ALTER COLUMN fact SET STATISTICS 0;
ALTER TABLE commonplace.index_statements
  ALTER COLUMN numbers SET STORAGE EXTERNAL, ALTER COLUMN numbers SET STATISTICS 0, ALTER COLUMN parsed SET STATISTICS 0;

DO $$
DECLARE
  each text;
  own text := 'tenant = (SELECT commonplace.current_tenant())';
BEGIN
  FOREACH each IN ARRAY ARRAY['index_facts', 'index_statements']
  LOOP
    EXECUTE format('ALTER TABLE commonplace.%I ENABLE ROW LEVEL SECURITY', each);
    EXECUTE format('ALTER TABLE commonplace.%I FORCE ROW LEVEL SECURITY', each);
    EXECUTE format('CREATE POLICY own_rows ON commonplace.%I USING (%s) WITH CHECK (%s)', each, own, own);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON commonplace.%I TO commonplace_member', each);
  END LOOP;
END
$$;

-- As before, with the new tables.
CREATE OR REPLACE FUNCTION commonplace.index_settle() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM gin_clean_pending_list('commonplace.index_words_by_word');
  ANALYZE (SKIP_LOCKED) commonplace.index_owners, commonplace.index_frequencies, commonplace.index_passages,
    commonplace.index_words, commonplace.index_facts, commonplace.index_statements, commonplace.index_spaces,
    commonplace.index_vectors, commonplace.index_pages;
END
$$;
