-- What was paid, by the step that asked and the model that was asked: together it is what
-- resource.spent says.
CREATE TABLE payment (
  resource TEXT NOT NULL,
  stage TEXT NOT NULL,                     -- "" of what was spent before this table was there
  key TEXT NOT NULL,
  model TEXT NOT NULL,
  questions BIGINT NOT NULL,
  input BIGINT NOT NULL,                   -- tokens, those that were cached included
  cached BIGINT NOT NULL,
  output BIGINT NOT NULL,
  cost DOUBLE PRECISION NOT NULL,          -- dollars
  PRIMARY KEY (resource, stage, key, model)
);

INSERT INTO payment (resource, stage, key, model, questions, input, cached, output, cost)
  SELECT name, '', '', '', 0, 0, 0, 0, spent FROM resource WHERE spent <> 0
