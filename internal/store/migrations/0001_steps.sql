-- The step table is the truth and the queue.

CREATE TABLE step (
  id INTEGER PRIMARY KEY,
  stage TEXT NOT NULL,
  key TEXT NOT NULL,
  parent BIGINT NOT NULL DEFAULT 0,        -- the step that made the input; of a build: the member it is tried with
  epoch BIGINT NOT NULL DEFAULT 0,         -- how often this step was settled
  made_epoch BIGINT NOT NULL DEFAULT 0,    -- the parent's epoch that last made this row; -1 of a build
  live BOOLEAN NOT NULL DEFAULT TRUE,      -- FALSE: withdrawn
  below BOOLEAN NOT NULL DEFAULT FALSE,    -- on the way from an open step to one below that waits for it
  state TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  share TEXT NOT NULL DEFAULT '',          -- the key of the build it needs
  through BIGINT NOT NULL DEFAULT 0,       -- the build whose end became this step's; -1: one that refused it
  digest TEXT NOT NULL DEFAULT '',
  whole TEXT NOT NULL DEFAULT '',
  made_by TEXT NOT NULL DEFAULT '',        -- the fingerprint under which it was settled
  outcome TEXT NOT NULL DEFAULT '',        -- digest of the last end: was it another this time?
  owner TEXT NOT NULL DEFAULT '',
  not_before BIGINT NOT NULL DEFAULT 0,    -- milliseconds since 1970, as all times here
  waited BIGINT NOT NULL DEFAULT 0,
  deferrals BIGINT NOT NULL DEFAULT 0,
  attempts BIGINT NOT NULL DEFAULT 0,
  crashes BIGINT NOT NULL DEFAULT 0,
  cost DOUBLE PRECISION NOT NULL DEFAULT 0, -- of all attempts
  ms BIGINT NOT NULL DEFAULT 0,             -- of the last one
  evidence TEXT NOT NULL DEFAULT '',
  output_digest TEXT NOT NULL DEFAULT '',  -- of what a build made
  detail TEXT NOT NULL DEFAULT '',
  provenance TEXT NOT NULL DEFAULT '',
  record TEXT NOT NULL DEFAULT '',         -- JSON, or the digest of a blob
  output TEXT NOT NULL DEFAULT '',         -- of a build; likewise
  UNIQUE (stage, key)
);

CREATE INDEX step_parent ON step (parent);
CREATE INDEX step_share ON step (stage, share) WHERE share <> '';
CREATE INDEX step_ready ON step (stage, id) WHERE state = 'ready' AND crashes = 0 AND live;
CREATE INDEX step_suspect ON step (crashes, id) WHERE state = 'ready' AND crashes > 0 AND live;
CREATE INDEX step_running ON step (owner, id) WHERE state = 'running';
CREATE INDEX step_due ON step (not_before) WHERE state = 'deferred' AND live;
CREATE INDEX step_failed ON step (id) WHERE state = 'failed' AND live;
CREATE INDEX step_ended ON step (key, stage) WHERE state IN ('rejected', 'deferred', 'failed') AND live;

CREATE TABLE tally (
  stage TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  shard BIGINT NOT NULL,                   -- always 0
  n BIGINT NOT NULL,
  cost DOUBLE PRECISION NOT NULL,
  ms BIGINT NOT NULL,
  PRIMARY KEY (stage, state, reason, shard)
);

CREATE TABLE stage (
  name TEXT PRIMARY KEY,
  place BIGINT NOT NULL,
  fingerprint TEXT NOT NULL,
  info TEXT NOT NULL
);

-- Unused.
CREATE TABLE worker (id TEXT PRIMARY KEY, host TEXT NOT NULL, beat BIGINT NOT NULL);

CREATE TABLE resource (
  name TEXT PRIMARY KEY,
  paused_until BIGINT NOT NULL DEFAULT 0,
  spent DOUBLE PRECISION NOT NULL DEFAULT 0,
  reserved DOUBLE PRECISION NOT NULL DEFAULT 0,
  cap DOUBLE PRECISION NOT NULL DEFAULT 0
);

-- What each worker has reserved, so that a dead one's share comes back.
CREATE TABLE reservation (
  worker TEXT NOT NULL,
  resource TEXT NOT NULL,
  amount DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (worker, resource)
);

CREATE TABLE answer (
  request TEXT PRIMARY KEY,
  answered BOOLEAN NOT NULL,
  sent BIGINT NOT NULL,
  blob TEXT NOT NULL DEFAULT '',
  model TEXT NOT NULL DEFAULT '',
  input BIGINT NOT NULL DEFAULT 0,
  output BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE fixed (name TEXT PRIMARY KEY, value TEXT NOT NULL)
