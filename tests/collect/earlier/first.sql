BEGIN TRANSACTION;
CREATE TABLE audit (at DOUBLE PRECISION NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, more TEXT NOT NULL);
INSERT INTO "audit" VALUES(1000.0,'owner','invited','anna');
INSERT INTO "audit" VALUES(1001.0,'anna','consented','');
INSERT INTO "audit" VALUES(1000.0,'owner','invited','ben');
INSERT INTO "audit" VALUES(1001.0,'ben','consented','');
CREATE TABLE barred (item TEXT NOT NULL, person TEXT NOT NULL, PRIMARY KEY (item, person));
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO "facts" VALUES('study','{"title":"A study","kind":"choice"}');
INSERT INTO "facts" VALUES('secret','d930f9317636a889a0680056393e5dcf4807b0139ee31658848c80cbe8b12a2c');
INSERT INTO "facts" VALUES('admin','18e6374126f4d6b57a902943c58d7319:a4841d19618a79360a9ad8f8c46b36d26fbc3dab24ce6a81580a21f374a1f4525ee459c4a2b932bc0af7f33d93a84223c0c707f35873a80ca12b4dd00d501f76');
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
INSERT INTO "people" VALUES('anna','80cef0ab86511a500d54b7c96ef35f8f1ad3447f828b559c14081f4ca3b65aca','s',1000.0,1001.0,'{"note":"typed by anna"}',NULL,2,1,0);
INSERT INTO "people" VALUES('ben','f082958e0882cffd699bf700b60637cdd2839a4a7a49023f776bf3d5825c8375','t',1000.0,1001.0,'{"note":"typed by ben"}',NULL,1,0,0);
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
CREATE INDEX work_person ON work (person, state);
CREATE INDEX work_leases ON work (expires) WHERE state = 'leased';
CREATE INDEX work_received ON work (received) WHERE state = 'answered';
CREATE INDEX work_flagged ON work (received) WHERE flags <> '';
CREATE INDEX audit_at ON audit (at);
COMMIT;
