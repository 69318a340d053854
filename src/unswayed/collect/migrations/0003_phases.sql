CREATE TABLE parts (
    item TEXT PRIMARY KEY,
    unit TEXT NOT NULL,
    phase TEXT NOT NULL,
    feedback TEXT NOT NULL
);
CREATE INDEX parts_unit ON parts (unit);
CREATE INDEX parts_before ON parts (phase) WHERE phase <> 'task';
INSERT INTO parts SELECT id, id, 'task', '' FROM items;
CREATE TABLE journeys (
    person TEXT PRIMARY KEY,
    arrived TEXT NOT NULL,
    consent TEXT NOT NULL,
    told DOUBLE PRECISION,
    instructed DOUBLE PRECISION,
    ended TEXT NOT NULL
);
CREATE TABLE consents (
    person TEXT NOT NULL,
    version TEXT NOT NULL,
    language TEXT NOT NULL,
    text TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (person, version)
);
CREATE TABLE attempts (
    item TEXT NOT NULL,
    person TEXT NOT NULL,
    number INTEGER NOT NULL,
    received DOUBLE PRECISION NOT NULL,
    seconds DOUBLE PRECISION NOT NULL,
    content TEXT NOT NULL,
    flags TEXT NOT NULL,
    events TEXT NOT NULL,
    PRIMARY KEY (item, person, number)
);
CREATE TABLE drafts (
    item TEXT NOT NULL,
    person TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    begins INTEGER NOT NULL,
    events TEXT NOT NULL,
    PRIMARY KEY (item, person, attempt, begins)
);
CREATE TABLE remarks (
    item TEXT NOT NULL,
    person TEXT NOT NULL,
    comment TEXT NOT NULL,
    skipped TEXT NOT NULL,
    told INTEGER NOT NULL,
    PRIMARY KEY (item, person)
);
