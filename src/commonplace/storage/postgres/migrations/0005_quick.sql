-- What makes the index quick, and keeps it so whatever the server happens to know of the tables.

-- Up to which number of the tenant's pages an index is; and at how many passages the tables were last looked at.
ALTER TABLE commonplace.indexes ADD COLUMN seq bigint NOT NULL DEFAULT 0, ADD COLUMN settled bigint NOT NULL DEFAULT 0;

-- Nothing is planned by what stands in these, and a look at them takes longer than one at all the others.
ALTER TABLE commonplace.index_words ALTER COLUMN words SET STATISTICS 0;
ALTER TABLE commonplace.index_vectors ALTER COLUMN vector SET STATISTICS 0;
ALTER TABLE commonplace.index_passages
  ALTER COLUMN text SET STATISTICS 0, ALTER COLUMN lead SET STATISTICS 0, ALTER COLUMN digest SET STATISTICS 0,
  ALTER COLUMN body SET STATISTICS 0, ALTER COLUMN around SET STATISTICS 0;

-- As before, but always by the index of words: the server can not know how many passages hold a word, and reading all
-- of them for each question is what it would do by its own guess.
CREATE OR REPLACE FUNCTION commonplace.index_lookup(asked_territory text, lexemes text[])
RETURNS TABLE (place bigint, id bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog SET enable_seqscan = off ROWS 500 AS $$
  SELECT asked.place, found.id
  FROM unnest(lexemes) WITH ORDINALITY AS asked(lexeme, place) CROSS JOIN LATERAL (
    SELECT words.id FROM commonplace.index_words AS words
    WHERE words.words @@ asked.lexeme::tsquery
    AND words.tenant || '' = current_setting('commonplace.tenant', true) AND words.territory || '' = asked_territory
  ) AS found
$$;

-- After much was written: let the server look at the tables, and sort in the words that wait for it. It tells nobody
-- anything, and skips what somebody else is at; only the owner of the tables may, so this runs as that one.
CREATE FUNCTION commonplace.index_settle() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  PERFORM gin_clean_pending_list('commonplace.index_words_by_word');
  ANALYZE (SKIP_LOCKED) commonplace.index_owners, commonplace.index_frequencies, commonplace.index_passages,
    commonplace.index_words, commonplace.index_spaces, commonplace.index_vectors, commonplace.index_pages;
END
$$;
REVOKE ALL ON FUNCTION commonplace.index_settle() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION commonplace.index_settle() TO commonplace_member;
