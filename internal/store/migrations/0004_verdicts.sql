-- Answers that were paid for and were of no use, by the step that asked.
CREATE TABLE verdict (
  request TEXT NOT NULL PRIMARY KEY,
  resource TEXT NOT NULL,
  stage TEXT NOT NULL,
  key TEXT NOT NULL,
  model TEXT NOT NULL,
  prompt TEXT NOT NULL,
  why TEXT NOT NULL,                       -- in a word, to be counted
  fault TEXT NOT NULL                      -- in full
);

CREATE INDEX verdict_step ON verdict (resource, stage, key)
