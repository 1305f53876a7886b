-- Answers that were paid for and were of no use, by the step that asked.
CREATE TABLE verdict (
  request TEXT {bytes} NOT NULL PRIMARY KEY,
  resource TEXT {bytes} NOT NULL,
  stage TEXT {bytes} NOT NULL,
  key TEXT {bytes} NOT NULL,
  model TEXT {bytes} NOT NULL,
  prompt TEXT {bytes} NOT NULL,
  why TEXT {bytes} NOT NULL,               -- in a word, to be counted
  fault TEXT {bytes} NOT NULL              -- in full
);

CREATE INDEX verdict_step ON verdict (resource, stage, key)
