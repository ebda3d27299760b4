-- For programs from 0006 on.
-- By which way a change came: a token, an import, a person in the page. Empty: the owner's own process.
ALTER TABLE commonplace.history ADD COLUMN origin text NOT NULL DEFAULT '';
