BEGIN TRANSACTION;
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
CREATE TABLE audio (
    name TEXT PRIMARY KEY,
    item TEXT NOT NULL,
    person TEXT NOT NULL,
    milliseconds INTEGER NOT NULL,
    level DOUBLE PRECISION NOT NULL,
    at DOUBLE PRECISION NOT NULL
);
CREATE TABLE audit (at DOUBLE PRECISION NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, more TEXT NOT NULL);
INSERT INTO "audit" VALUES(1000.0,'owner','invited','anna');
INSERT INTO "audit" VALUES(1001.0,'anna','consented','');
INSERT INTO "audit" VALUES(1000.0,'owner','invited','ben');
INSERT INTO "audit" VALUES(1001.0,'ben','consented','');
CREATE TABLE barred (item TEXT NOT NULL, person TEXT NOT NULL, PRIMARY KEY (item, person));
CREATE TABLE consents (
    person TEXT NOT NULL,
    version TEXT NOT NULL,
    language TEXT NOT NULL,
    text TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (person, version)
);
CREATE TABLE decisions (
    item TEXT PRIMARY KEY,
    content TEXT NOT NULL,
    reason TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL
);
INSERT INTO "decisions" VALUES('i0','{"choice":["keyboard"]}','clearer',1002.0);
CREATE TABLE drafts (
    item TEXT NOT NULL,
    person TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    begins INTEGER NOT NULL,
    events TEXT NOT NULL,
    PRIMARY KEY (item, person, attempt, begins)
);
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO "facts" VALUES('study','{"title":"A study","kind":"choice"}');
INSERT INTO "facts" VALUES('secret','1f308f7c1dcd274f30b89fba74c9b38dc7f4698ae9ffe4a8d6986ec343ba7ac6');
INSERT INTO "facts" VALUES('admin','a2ec1b72b2c9850cee698a21c2fd391a:48b3915886d4e0cc3ad9f59d2e3c6860aae051438a7bd8ec07aed265dc313286c3ef44f1b9f82a39d2744acc30cd226413b97475ef92c922815ea882d0d24ae8');
CREATE TABLE heard (
    name TEXT NOT NULL,
    recogniser TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (name, recogniser)
);
CREATE TABLE items (
    id TEXT PRIMARY KEY,
    place INTEGER NOT NULL UNIQUE,
    content TEXT NOT NULL,
    origin TEXT NOT NULL,
    gold TEXT,
    only_for TEXT NOT NULL,
    free INTEGER NOT NULL
);
INSERT INTO "items" VALUES('i0',0,'{"text":"text 0"}','{}',NULL,'',0);
INSERT INTO "items" VALUES('i1',1,'{"text":"text 1"}','{}',NULL,'',2);
INSERT INTO "items" VALUES('i2',2,'{"text":"text 2"}','{}',NULL,'',2);
INSERT INTO "items" VALUES('i3',3,'{"text":"text 3"}','{}',NULL,'',2);
INSERT INTO "items" VALUES('g',4,'{"text":"gold"}','{}','{"choice":["speech"]}','',0);
CREATE TABLE journeys (
    person TEXT PRIMARY KEY,
    arrived TEXT NOT NULL,
    consent TEXT NOT NULL,
    told DOUBLE PRECISION,
    instructed DOUBLE PRECISION,
    ended TEXT NOT NULL
);
CREATE TABLE logs (item TEXT NOT NULL, person TEXT NOT NULL, events TEXT NOT NULL, PRIMARY KEY (item, person));
INSERT INTO "logs" VALUES('i0','anna','[{"t":1,"e":"commit","d":"x"}]');
INSERT INTO "logs" VALUES('i0','ben','[{"t":1,"e":"commit","d":"x"}]');
CREATE TABLE migrations (number INTEGER PRIMARY KEY);
INSERT INTO "migrations" VALUES(1);
INSERT INTO "migrations" VALUES(2);
INSERT INTO "migrations" VALUES(3);
INSERT INTO "migrations" VALUES(4);
CREATE TABLE parts (
    item TEXT PRIMARY KEY,
    unit TEXT NOT NULL,
    phase TEXT NOT NULL,
    feedback TEXT NOT NULL
);
INSERT INTO "parts" VALUES('i0','i0','task','""');
INSERT INTO "parts" VALUES('i1','i1','task','""');
INSERT INTO "parts" VALUES('i2','i2','task','""');
INSERT INTO "parts" VALUES('i3','i3','task','""');
INSERT INTO "parts" VALUES('g','g','task','""');
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
INSERT INTO "people" VALUES('anna','06a46f2e66e5e1303a407c76bc98a9dd0e03bf3533e381a027ddb43d8d6f37b9','s',1000.0,1001.0,'{"note":"typed by anna"}',NULL,2,1,0);
INSERT INTO "people" VALUES('ben','4d89ef4a291695c32d557439fa7f51b33f431a6c70f794e11dd92bbbca4a6cd9','t',1000.0,1001.0,'{"note":"typed by ben"}',NULL,1,0,0);
CREATE TABLE remarks (
    item TEXT NOT NULL,
    person TEXT NOT NULL,
    comment TEXT NOT NULL,
    skipped TEXT NOT NULL,
    told INTEGER NOT NULL,
    PRIMARY KEY (item, person)
);
CREATE TABLE revisions (number INTEGER PRIMARY KEY, at DOUBLE PRECISION NOT NULL, content TEXT NOT NULL);
INSERT INTO "revisions" VALUES(1,1.79513035349930834771e+09,'{"title":"A study","kind":"choice","language":"en","consent":"We keep what you type.","contact":"me@example.org","items":{"suite":null,"path":"items.jsonl","fields":[]},"arrive":{"open":false,"parameters":[],"frames":[]},"questions":[],"instructions":"","training":null,"qualification":null,"assign":{"k":2,"strata":["s","t"],"by":"","distinct":true,"attempts":3,"lease_minutes":30,"gold_every":1,"per_person":null,"quota":{},"shuffle":false,"seed":0},"completion":null,"pay":{"per_answer":0,"per_hour":0,"currency":""},"options":{"question":"Which?","answers":["keyboard","speech","none"]}}');
CREATE TABLE sessions (id TEXT PRIMARY KEY, until DOUBLE PRECISION NOT NULL);
CREATE TABLE set_aside (item TEXT NOT NULL, person TEXT NOT NULL, PRIMARY KEY (item, person));
CREATE TABLE strata (name TEXT PRIMARY KEY, live INTEGER NOT NULL);
INSERT INTO "strata" VALUES('s',1);
INSERT INTO "strata" VALUES('t',1);
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
INSERT INTO "work" VALUES('i0','anna','s','answered',1,'{}',1,1000.0,2800.0,1000.0,'{"choice":["keyboard"]}','',NULL);
INSERT INTO "work" VALUES('g','anna','s','answered',0,'{}',1,1000.0,2800.0,1000.0,'{"choice":["speech"]}','',1);
INSERT INTO "work" VALUES('i0','ben','t','answered',1,'{}',1,1000.0,2800.0,1000.0,'{"choice":["keyboard"]}','',NULL);
INSERT INTO "work" VALUES('g','ben','t','leased',0,'{}',1,1000.0,2800.0,NULL,NULL,NULL,NULL);
CREATE INDEX items_open ON items (place) WHERE gold IS NULL AND free > 0;
CREATE INDEX work_person ON work (person);
CREATE INDEX work_held ON work (person) WHERE state = 'leased';
CREATE INDEX work_leases ON work (expires) WHERE state = 'leased';
CREATE INDEX work_received ON work (received) WHERE state = 'answered';
CREATE INDEX work_flagged ON work (received) WHERE flags <> '';
CREATE INDEX audit_at ON audit (at);
CREATE INDEX audio_taken ON audio (person, item);
CREATE INDEX parts_unit ON parts (unit);
CREATE INDEX parts_before ON parts (phase) WHERE phase <> 'task';
COMMIT;
