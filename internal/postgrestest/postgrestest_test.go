package postgrestest_test

import (
	"database/sql"
	"os"
	"testing"

	"github.com/benchmint/benchmint/internal/postgrestest"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m)) }

func TestLocationIsEmptyAndApart(t *testing.T) {
	t.Parallel()
	for range 2 {
		db, err := sql.Open("pgx", postgrestest.Location(t))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec("CREATE TABLE mine (n BIGINT)"); err != nil {
			t.Error(err)
		}
	}
}
