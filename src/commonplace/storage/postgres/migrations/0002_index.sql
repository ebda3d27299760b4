-- The index of pages: words, meaning, records. All of it can be thrown away and made again. Beside the tenant, the
-- territory says what is indexed: settings that differ have an index each.

DO $$
BEGIN
  CREATE EXTENSION IF NOT EXISTS vector;
EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported THEN
  RAISE EXCEPTION 'pgvector is needed: install it on the server and have an administrator run CREATE EXTENSION vector '
    'in this database' USING ERRCODE = SQLSTATE;
END
$$;

-- The numbers given out so far. Who writes holds the row: others of the same index wait, and numbers come in the order
-- of the commits.
CREATE TABLE commonplace.indexes (
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  territory text COLLATE "C" NOT NULL,
  passages bigint NOT NULL,
  owners integer NOT NULL,
  spaces integer NOT NULL,
  PRIMARY KEY (tenant, territory)
);

CREATE TABLE commonplace.index_pages (
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  territory text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  stamp bigint NOT NULL,
  version text NOT NULL,
  warning text NOT NULL,
  PRIMARY KEY (tenant, territory, path)
);
CREATE INDEX index_pages_with_a_warning ON commonplace.index_pages (tenant, territory, path) WHERE warning <> '';

-- Whose passages there are: how many, how long as they are weighed, and how many words they have in all.
CREATE TABLE commonplace.index_owners (
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  territory text COLLATE "C" NOT NULL,
  id integer NOT NULL,
  scope text COLLATE "C" NOT NULL,
  who text COLLATE "C" NOT NULL,
  passages bigint NOT NULL,
  length bigint NOT NULL,
  tokens bigint NOT NULL,
  PRIMARY KEY (tenant, territory, id)
);

CREATE TABLE commonplace.index_frequencies (
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  territory text COLLATE "C" NOT NULL,
  word text COLLATE "C" NOT NULL,
  owner integer NOT NULL,
  passages bigint NOT NULL,
  PRIMARY KEY (tenant, territory, word, owner)
);

CREATE TABLE commonplace.index_passages (
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  territory text COLLATE "C" NOT NULL,
  id bigint NOT NULL,
  path text COLLATE "C" NOT NULL,
  first integer NOT NULL,
  last integer NOT NULL,
  text text NOT NULL,
  lead text NOT NULL,
  key text NOT NULL,
  tags text NOT NULL,
  at text NOT NULL,
  day integer,
  kind text NOT NULL,
  owner integer NOT NULL,
  source text COLLATE "C" NOT NULL,
  length integer NOT NULL,
  hash bytea NOT NULL,
  digest bytea NOT NULL,
  tokens integer NOT NULL,
  body text COLLATE "C" NOT NULL,
  around text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, territory, id)
);
CREATE INDEX index_passages_of_page ON commonplace.index_passages (tenant, territory, path);
CREATE INDEX index_passages_by_content ON commonplace.index_passages (tenant, territory, owner, hash);

-- The different words of each passage, for looking up. Each begins with a mark of its tenant and territory, so that the
-- words of one never lead to rows of another. A passage of very many words has more than one row.
CREATE TABLE commonplace.index_words (
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  territory text COLLATE "C" NOT NULL,
  id bigint NOT NULL,
  part integer NOT NULL,
  words tsvector NOT NULL,
  PRIMARY KEY (tenant, territory, id, part)
);
CREATE INDEX index_words_by_word ON commonplace.index_words USING gin (words) WITH (gin_pending_list_limit = 512);

CREATE TABLE commonplace.index_records (
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  territory text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  key text NOT NULL,
  value text NOT NULL,
  category text NOT NULL,
  tags text NOT NULL,
  created_at text NOT NULL,
  updated_at text NOT NULL,
  scope text NOT NULL,
  who text NOT NULL,
  PRIMARY KEY (tenant, territory, path)
);

-- A space has seen every passage up to a number. `mean` and `deviation`: how alike vectors are that have nothing to do
-- with each other, by a sample.
CREATE TABLE commonplace.index_spaces (
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  territory text COLLATE "C" NOT NULL,
  id integer NOT NULL,
  name text COLLATE "C" NOT NULL,
  dims integer NOT NULL,
  vectors bigint NOT NULL,
  seen bigint NOT NULL,
  sampled bigint NOT NULL,
  mean double precision,
  deviation double precision,
  PRIMARY KEY (tenant, territory, name)
);

-- A vector belongs to a text and an owner. Spaces differ in their dimensions, so the column names none.
CREATE TABLE commonplace.index_vectors (
  tenant text COLLATE "C" NOT NULL CHECK (tenant <> ''),
  territory text COLLATE "C" NOT NULL,
  space integer NOT NULL,
  owner integer NOT NULL,
  hash bytea NOT NULL,
  vector vector NOT NULL,
  PRIMARY KEY (tenant, territory, space, owner, hash)
);
ALTER TABLE commonplace.index_vectors ALTER COLUMN vector SET STORAGE EXTERNAL;  -- there is nothing to compress
ALTER TABLE commonplace.index_vectors SET (toast_tuple_target = 8160);  -- and most are read quicker in their row

DO $$
DECLARE each text;
BEGIN
  FOREACH each IN ARRAY ARRAY['indexes', 'index_pages', 'index_owners', 'index_frequencies', 'index_passages',
    'index_words', 'index_records', 'index_spaces', 'index_vectors']
  LOOP
    EXECUTE format('ALTER TABLE commonplace.%I ENABLE ROW LEVEL SECURITY', each);
    EXECUTE format('ALTER TABLE commonplace.%I FORCE ROW LEVEL SECURITY', each);
    EXECUTE format('CREATE POLICY own_rows ON commonplace.%I USING (tenant = current_setting(''commonplace.tenant'', '
      'true)) WITH CHECK (tenant = current_setting(''commonplace.tenant'', true))', each);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON commonplace.%I TO commonplace_member', each);
  END LOOP;
END
$$;

-- Which passages hold which of these words. Under row-level security the server does not use an index for `@@`; so this
-- reads as the owner of the tables, and keeps to the tenant by itself.
CREATE POLICY lookup ON commonplace.index_words FOR SELECT TO CURRENT_USER USING (true);
CREATE FUNCTION commonplace.index_lookup(asked_territory text, lexemes text[]) RETURNS TABLE (place bigint, id bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog ROWS 500 AS $$
  SELECT asked.place, found.id
  FROM unnest(lexemes) WITH ORDINALITY AS asked(lexeme, place) CROSS JOIN LATERAL (
    SELECT words.id FROM commonplace.index_words AS words
    WHERE words.words @@ asked.lexeme::tsquery
    -- not by the primary key: for a large tenant that would be all its rows
    AND words.tenant || '' = current_setting('commonplace.tenant', true) AND words.territory || '' = asked_territory
  ) AS found
$$;
REVOKE ALL ON FUNCTION commonplace.index_lookup(text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION commonplace.index_lookup(text, text[]) TO commonplace_member;
