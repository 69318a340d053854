CREATE TABLE audio (
    name TEXT PRIMARY KEY,
    item TEXT NOT NULL,
    person TEXT NOT NULL,
    milliseconds INTEGER NOT NULL,
    level DOUBLE PRECISION NOT NULL,
    at DOUBLE PRECISION NOT NULL
);
CREATE INDEX audio_taken ON audio (person, item);
CREATE TABLE heard (
    name TEXT NOT NULL,
    recogniser TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (name, recogniser)
);
