BEGIN TRANSACTION;
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
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO "facts" VALUES('study','{"title":"A study","kind":"choice"}');
INSERT INTO "facts" VALUES('secret','ce007f93642a4d93e6baf50f3bc72f69d244faa620166d5b28ba80c42c42b983');
INSERT INTO "facts" VALUES('admin','5f35c6503281e17a35c0e91283b2b097:356a35fb71bae8e6119afe2eeca99e8f0b1dcb2f48882ac9dc82afc34e2cc44a027857a526419309548fc1896f966d903538a46f8b45e32de0d5de2acc90b813');
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
CREATE TABLE logs (item TEXT NOT NULL, person TEXT NOT NULL, events TEXT NOT NULL, PRIMARY KEY (item, person));
INSERT INTO "logs" VALUES('i0','anna','[{"t":1,"e":"commit","d":"x"}]');
INSERT INTO "logs" VALUES('i0','ben','[{"t":1,"e":"commit","d":"x"}]');
CREATE TABLE migrations (number INTEGER PRIMARY KEY);
INSERT INTO "migrations" VALUES(1);
INSERT INTO "migrations" VALUES(2);
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
INSERT INTO "people" VALUES('anna','9e6b47ea7645e9487c0ab5bca3fa9a8636ecc42b0d4151c30307a47cfcd195f2','s',1000.0,1001.0,'{"note":"typed by anna"}',NULL,2,1,0);
INSERT INTO "people" VALUES('ben','63cf8f219df81bceeda19183fa5ed1b6f605c5d1e464b7241ac0238306a499cb','t',1000.0,1001.0,'{"note":"typed by ben"}',NULL,1,0,0);
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
COMMIT;
