CREATE TABLE items (
    id TEXT PRIMARY KEY,
    place INTEGER NOT NULL UNIQUE,
    content TEXT NOT NULL,
    origin TEXT NOT NULL,
    gold TEXT,
    only_for TEXT NOT NULL,
    free INTEGER NOT NULL
);
CREATE INDEX items_open ON items (place) WHERE gold IS NULL AND free > 0;
CREATE TABLE barred (item TEXT NOT NULL, person TEXT NOT NULL, PRIMARY KEY (item, person));
CREATE TABLE people (
    id TEXT PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    stratum TEXT NOT NULL,
    invited DOUBLE PRECISION NOT NULL,
    consented DOUBLE PRECISION,
    facts TEXT NOT NULL,
    excluded TEXT,
    answered INTEGER NOT NULL,
    gold_seen INTEGER NOT NULL,
    reached INTEGER NOT NULL
);
CREATE TABLE work (
    item TEXT NOT NULL,
    person TEXT NOT NULL,
    stratum TEXT NOT NULL,
    state TEXT NOT NULL,
    live INTEGER NOT NULL,
    shown TEXT NOT NULL,
    shows INTEGER NOT NULL,
    taken DOUBLE PRECISION NOT NULL,
    expires DOUBLE PRECISION NOT NULL,
    received DOUBLE PRECISION,
    content TEXT,
    flags TEXT,
    correct INTEGER,
    PRIMARY KEY (item, person)
);
CREATE INDEX work_person ON work (person);
CREATE INDEX work_held ON work (person) WHERE state = 'leased';
CREATE INDEX work_leases ON work (expires) WHERE state = 'leased';
CREATE INDEX work_received ON work (received) WHERE state = 'answered';
CREATE INDEX work_flagged ON work (received) WHERE flags <> '';
CREATE TABLE logs (item TEXT NOT NULL, person TEXT NOT NULL, events TEXT NOT NULL, PRIMARY KEY (item, person));
CREATE TABLE strata (name TEXT PRIMARY KEY, live INTEGER NOT NULL);
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE audit (at DOUBLE PRECISION NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, more TEXT NOT NULL);
CREATE INDEX audit_at ON audit (at);
