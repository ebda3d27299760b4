-- For programs from 0006 on.
-- The days that a passage names and whether it says until when it holds, so that a query need not read it. Older programs
-- have an index of their own and leave this empty.
ALTER TABLE commonplace.index_passages ADD COLUMN days text;
ALTER TABLE commonplace.index_passages ALTER COLUMN days SET STATISTICS 0;
