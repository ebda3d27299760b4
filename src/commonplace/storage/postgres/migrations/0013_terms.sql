-- For programs from 0006 on.
-- The words of a passage as numbers, which are counted without splitting text. Older programs have an index of their own
-- and leave this empty. The numbers hardly compress, and each is read whole.
ALTER TABLE commonplace.index_passages ADD COLUMN terms bytea;
ALTER TABLE commonplace.index_passages ALTER COLUMN terms SET STORAGE EXTERNAL, ALTER COLUMN terms SET STATISTICS 0;
