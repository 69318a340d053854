-- The first studies had another index on the people of work: both forms stand here, so that such a file is known.
DROP INDEX work_person;
CREATE INDEX work_person ON work (person, state);
DROP INDEX work_person;
CREATE INDEX work_person ON work (person);
CREATE INDEX IF NOT EXISTS work_held ON work (person) WHERE state = 'leased';
ALTER TABLE decisions ADD COLUMN person TEXT NOT NULL DEFAULT '';
ALTER TABLE people ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;
CREATE TABLE copies (place TEXT PRIMARY KEY, what TEXT NOT NULL, at DOUBLE PRECISION NOT NULL);
