-- For programs from 0006 on.
-- A line that is added to a long page makes a new one of it. Most of that time went into compressing all of it again, and
-- into unpacking it first; uncompressed, a part of a page is also read without the rest. Pages that are there follow when
-- they are next written.
ALTER TABLE commonplace.pages ALTER COLUMN data SET STORAGE EXTERNAL;
