-- For programs from 0006 on.
-- What is of some days is looked up by them, the newest first.
CREATE INDEX index_passages_by_day ON commonplace.index_passages (tenant, territory, day) WHERE day IS NOT NULL;
