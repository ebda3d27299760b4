-- For programs from 0006 on.
-- What a model that reads token by token keeps of a text, beside its vector: see `embed/late`.
ALTER TABLE commonplace.index_vectors ADD COLUMN tokens bytea;
ALTER TABLE commonplace.index_vectors ALTER COLUMN tokens SET STATISTICS 0;

-- A turn is read with those beside it: the passages of a page, in their order.
CREATE INDEX index_passages_in_order ON commonplace.index_passages (tenant, territory, path, first);
DROP INDEX commonplace.index_passages_of_page;
