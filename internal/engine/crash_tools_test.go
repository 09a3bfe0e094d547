//go:build crash

package engine

import (
	"os/exec"
	"strings"
	"testing"
)

// What takes more tools than gcc: make crash.
func TestCrashTools(t *testing.T) {
	const (
		valgrind = "install valgrind, or run make test, which does without"
		gdb      = "install gdb, or run make test, which does without"
		clang    = "install clang with compiler-rt and llvm-symbolizer (Debian: clang libclang-rt-dev llvm), or run make test, which does without"
	)
	plain := []string{"gcc", "-g"}
	memcheck := []string{"valgrind", "--track-origins=yes", "--leak-check=full", "PROGRAM"}
	for _, c := range []crash{
		{name: "leak", source: "keep.c", build: []string{"gcc", "-g", "-fsanitize=address"}, install: installGCC, fault: "copy(s)", caller: "shout"},
		{name: "thread", source: "tally.c", build: []string{"gcc", "-g", "-fsanitize=thread"}, run: []string{"setarch", "-R", "PROGRAM"}, install: installGCC + " and util-linux", fault: "tally_add(t, n)", caller: "count",
			also: []string{"other write: tally_add tally.c:14 t->sum += n"}},
		{name: "C++", source: "prices.cc", build: []string{"g++", "-g", "-fsanitize=address"}, install: "install g++", fault: "shop::Cheapest::operator()(table, from)", caller: "shop::lowest::pick",
			also: []string{"called from shop::lowest  prices.cc", "allocated: shop::Table::Table prices.cc:16"}},
		{name: "memory", source: "unset.c", build: []string{clangName(), "-g", "-fsanitize=memory", "-fsanitize-memory-track-origins"}, install: clang, fault: "inside(l, value)", caller: "check",
			also: []string{"uninitialised since: limits_new unset.c:11 struct limits *l = malloc(sizeof *l)"}},
		{name: "clang's address", source: "jobs.c", build: []string{clangName(), "-g", "-fsanitize=address"}, install: clang, fault: "job_report(j, code)", caller: "queue_run",
			also: []string{"freed: queue_drop jobs.c:41"}},
		{name: "clang's undefined", source: "clamp.c", build: []string{clangName(), "-g", "-fsanitize=undefined"}, install: clang, fault: "scale(level, by)"},
		{name: "valgrind, freed", source: "jobs.c", build: plain, run: memcheck, install: valgrind, fault: "job_report(j, code)", caller: "queue_run",
			also: []string{"freed: queue_drop jobs.c:41", "allocated: job_new jobs.c:19"}},
		{name: "valgrind, unset", source: "unset.c", build: plain, run: memcheck, install: valgrind, fault: "inside(l, value)", caller: "check",
			also: []string{"uninitialised since: limits_new unset.c:11"}},
		{name: "valgrind, a leak", source: "keep.c", build: plain, run: memcheck, install: valgrind, fault: "copy(s)", caller: "shout"},
		{name: "valgrind, a signal", source: "tree.c", build: plain, run: memcheck, install: valgrind, fault: "node_key(n)", caller: "successor"},
		{name: "valgrind, C++", source: "prices.cc", build: []string{"g++", "-g"}, run: memcheck, install: valgrind, fault: "shop::Cheapest::operator()(table, from)", caller: "shop::lowest::pick"},
		{name: "gdb", source: "tree.c", build: plain, run: []string{"gdb", "-batch", "-ex", "run", "-ex", "bt", "PROGRAM"}, install: gdb, fault: "node_key(n)", caller: "successor"},
		{name: "gdb, in full", source: "tree.c", build: plain, run: []string{"gdb", "-batch", "-ex", "run", "-ex", "bt full", "PROGRAM"}, install: gdb, fault: "node_key(n)", caller: "successor"},
		{name: "gdb, in columns", source: "tree.c", build: plain, run: []string{"gdb", "-batch", "-ex", "set width 60", "-ex", "run", "-ex", "bt", "PROGRAM"}, install: gdb, fault: "node_key(n)", caller: "successor"},
	} {
		t.Run(c.name, func(t *testing.T) { c.try(t) })
	}
}

// Debian's clang has its version in its name.
func clangName() string {
	for _, name := range strings.Fields("clang clang-14 clang-19 clang-18 clang-17 clang-16 clang-15") {
		if found(name) {
			return name
		}
	}
	return "clang"
}

func found(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}
