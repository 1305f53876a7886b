-- What the first stage was last given, as one digest: an equal list is not compared.
ALTER TABLE stage ADD COLUMN seeds TEXT NOT NULL DEFAULT ''
