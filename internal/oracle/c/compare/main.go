// Command compare holds flowplan's graphs of files of C and C++ against gcc's
// and says how many are equal.
//
//	go run ./internal/oracle/c/compare -show 20 a.c b.cc
//	go run ./internal/oracle/c/compare -corpus DIR
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"flowplan/internal/lang"
	"flowplan/internal/lang/all"
	oracle "flowplan/internal/oracle/c"
)

func main() {
	show := flag.Int("show", 10, "how many differences of each kind to print")
	headers := flag.String("headers", "", "compare functions of included files below this folder, too")
	list := flag.String("list", "", "a file of lines `PATH<tab>FLAGS`, with what to compile")
	dir := flag.String("corpus", "", "fetch the corpus into this folder (apt-get source) and compare it")
	only := flag.String("only", "", "take the files of the corpus whose path contains this")
	language := flag.String("language", "", "take the files of the corpus of this language: c or cpp")
	mutate := flag.Int("mutate", 0, "damage so many graphs, and count how many of these are noticed")
	floors := flag.String("floors", "", "fail below these shares in per cent: flow=99,pairs=98,skipped=3")
	verbose := flag.Bool("v", false, "name the functions that were not compared, and the files that did not compile")
	flag.Parse()
	var units []oracle.Unit
	for _, p := range flag.Args() {
		units = append(units, oracle.Unit{Path: p})
	}
	if *list != "" {
		more, err := readList(*list)
		if err != nil {
			fmt.Fprintln(os.Stderr, "compare:", err)
			os.Exit(1)
		}
		units = append(units, more...)
	}
	if *dir != "" {
		more, err := corpus(*dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, "compare:", err)
			os.Exit(1)
		}
		for _, u := range more {
			if c := filepath.Ext(u.Path) == ".c"; strings.Contains(u.Path, *only) && (*language == "" || c == (*language == "c")) {
				units = append(units, u)
			}
		}
	}
	if err := run(units, *headers, *show, *mutate, *floors, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func readList(path string) ([]oracle.Unit, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var out []oracle.Unit
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		p, flags, _ := strings.Cut(sc.Text(), "\t")
		if p == "" || strings.HasPrefix(p, "#") {
			continue
		}
		out = append(out, oracle.Unit{Path: p, Flags: strings.Fields(flags)})
	}
	return out, sc.Err()
}

func run(units []oracle.Unit, headers string, show, mutate int, floors string, verbose bool) error {
	if len(units) == 0 {
		return fmt.Errorf("expected files to compile, as arguments or by -list")
	}
	registry, err := lang.NewRegistry(all.Languages()...)
	if err != nil {
		return err
	}
	for i := range units {
		if units[i].Path, err = filepath.Abs(units[i].Path); err != nil {
			return err
		}
	}
	t := oracle.NewTally()
	for _, u := range units {
		r, err := oracle.File(context.Background(), u, registry.ForPath, func(p string) bool {
			return headers != "" && strings.HasPrefix(p, headers)
		})
		if err != nil {
			t.Failed = append(t.Failed, err.Error())
			continue
		}
		t.Add(r, mutate)
	}
	for _, s := range t.Lines(show, verbose) {
		fmt.Println(s)
	}
	if verbose {
		sort.Strings(t.Failed)
		for _, f := range t.Failed {
			fmt.Println("not compiled:", f)
		}
	}
	return t.Below(floors)
}
