-- What a model that reads token by token keeps of a text, beside its vector: see `embed/late`.
ALTER TABLE commonplace.index_vectors ADD COLUMN tokens bytea;
ALTER TABLE commonplace.index_vectors ALTER COLUMN tokens SET STATISTICS 0;
