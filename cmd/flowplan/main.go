// Command flowplan shows functions as graphs and checks edits against plans
// of graph deltas. See the README.
package main

import (
	"os"

	"flowplan/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
