package changelog_test

import "flag"

var update = flag.Bool("update", false, "write what is read into the archives of testdata")
