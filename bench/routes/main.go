// Routes prints the routes that folders declare, one a line: METHOD path handler auth body; with
// -json as the program has them. It never runs what it reads.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/benchmint/benchmint/internal/routes"
)

func main() {
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	status := 0
	for _, dir := range flag.Args() {
		if flag.NArg() > 1 && !*asJSON {
			fmt.Printf("# %s\n", dir)
		}
		if !show(dir, *asJSON) {
			status = 1
		}
	}
	os.Exit(status)
}

func show(dir string, asJSON bool) bool {
	t, err := routes.Open(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return false
	}
	shown := false
	for _, language := range []string{"python", "go"} {
		table, err := routes.Read(t, language)
		if unread := (*routes.Unread)(nil); errors.As(err, &unread) {
			fmt.Fprintf(os.Stderr, "%s: %s: %v\n", dir, language, err)
			continue
		}
		shown = true
		for _, r := range table.Routes {
			if !asJSON {
				fmt.Println(r)
			} else if line, err := json.Marshal(r); err == nil {
				fmt.Println(string(line))
			}
		}
		for _, u := range table.Unread {
			fmt.Fprintln(os.Stderr, "unread: "+u)
		}
		fmt.Fprintf(os.Stderr, "%s: %s: %d routes\n", dir, table.Framework, len(table.Routes))
	}
	return shown
}
