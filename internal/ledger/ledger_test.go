package ledger

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"flowplan/internal/store"
)

var bg = context.Background()

func TestMain(m *testing.M) {
	if os.Getenv("LEDGER_CHILD") != "" {
		child()
		return
	}
	os.Exit(m.Run())
}

type world struct {
	t    *testing.T
	home *store.Home
}

func newWorld(t *testing.T) *world {
	dir := t.TempDir()
	return &world{t, &store.Home{IndexDir: dir + "/i", LedgerDir: dir + "/l"}}
}

func (w *world) open(id string, kind Kind, serving bool) *Ledger {
	w.t.Helper()
	l, err := Open(bg, Config{Home: w.home, Root: "/repo", Session: Session{ID: id, Kind: kind, Serving: serving}})
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

// line is a history in which each commit descends from those before it.
func at(commit string) Head {
	return Head{Commit: commit, Descends: func(_ context.Context, base string) (bool, error) {
		return strings.HasPrefix(commit, base), nil
	}}
}

func request(functions ...string) Request {
	var r Request
	for _, f := range functions {
		name, op, _ := strings.Cut(f, "/")
		op, anchor, _ := strings.Cut(op, "@")
		if op == "" {
			op = "add_guard"
		}
		r.Deltas = append(r.Deltas, NewDelta{Function: name, Op: op, Anchor: anchor, Body: []byte(`{"function":"` + name + `"}`)})
		r.Snapshots = append(r.Snapshots, Snapshot{Function: name, Blob: "b", Fingerprint: "fp"})
	}
	return r
}

func add(t *testing.T, l *Ledger, h Head, r Request) Planned {
	t.Helper()
	p, err := l.Add(bg, h, r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func current(t *testing.T, l *Ledger, h Head, adopt bool) Current {
	t.Helper()
	c, err := l.Current(bg, h, adopt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func list(deltas []Delta) string {
	var out []string
	for _, d := range deltas {
		out = append(out, d.Function+"/"+d.Op+"@"+d.Anchor)
	}
	return strings.Join(out, " ")
}

func grade(t *testing.T, l *Ledger, plan int64, verdict string, grades map[int64]string) {
	t.Helper()
	if err := l.Graded(bg, plan, Grading{Grades: grades, Verdict: verdict, Data: map[string]any{"n": 1}}); err != nil {
		t.Fatal(err)
	}
}

func TestSessionFrom(t *testing.T) {
	env := func(id string) func(string) string {
		return func(k string) string {
			if k == "CLAUDE_CODE_SESSION_ID" {
				return id
			}
			return ""
		}
	}
	if s := SessionFrom(env("abc"), false); s.ID != "abc" || s.Kind != Client {
		t.Errorf("%+v", s)
	}
	if s := SessionFrom(env(""), false); s.ID != "cli" || s.Kind != CLI {
		t.Errorf("%+v", s)
	}
	a, b := SessionFrom(env(""), true), SessionFrom(env(""), true)
	if a.Kind != Server || a.ID == b.ID {
		t.Errorf("%+v %+v", a, b)
	}
}

func TestSupersession(t *testing.T) {
	w := newWorld(t)
	l := w.open("s", Client, true)
	defer l.Close()
	p := add(t, l, at("1"), request("f/add_guard@3", "f/change_block@9", "f/rewire_edge@4", "g/add_guard@1"))
	if !p.Begun || p.Plan.Base != "1" || len(p.Deltas) != 4 {
		t.Fatalf("%+v", p)
	}
	grade(t, l, p.Plan.ID, "", map[int64]string{p.Deltas[0].ID: "mismatch", p.Deltas[1].ID: "exact", p.Deltas[3].ID: "unknown"})
	// f's mismatch goes, its confirmed and ungraded ones stay, g is not named.
	p2 := add(t, l, at("1"), request("f/add_loop@5", "f/rewire_edge@4"))
	if p2.Begun || p2.Plan.ID != p.Plan.ID {
		t.Errorf("a second plan: %+v", p2.Plan)
	}
	if got := list(p2.Superseded); got != "f/add_guard@3" {
		t.Errorf("superseded %s", got)
	}
	if got := list(p2.Replaced); got != "f/rewire_edge@4" {
		t.Errorf("replaced %s", got)
	}
	deltas, err := l.Deltas(bg, p.Plan.ID)
	if got := list(deltas); err != nil || got != "f/change_block@9 g/add_guard@1 f/add_loop@5 f/rewire_edge@4" {
		t.Errorf("%s %v", got, err)
	}
	if deltas[0].Grade != "exact" || deltas[3].Grade != "" {
		t.Errorf("grades: %+v", deltas)
	}
	snaps, err := l.Snapshots(bg, p.Plan.ID)
	if err != nil || len(snaps) != 2 || snaps["f"].Fingerprint != "fp" {
		t.Errorf("%v %v", snaps, err)
	}
	events, err := l.History(bg)
	var names []string
	for _, e := range events {
		names = append(names, e.Event)
	}
	if d := cmp.Diff("plan delta delta delta delta check supersede supersede delta delta", strings.Join(names, " ")); err != nil || d != "" {
		t.Error(err, d)
	}
	raw, err := json.Marshal(events[1])
	if err != nil || !strings.Contains(string(raw), `"event":"delta"`) || !strings.Contains(string(raw), `"root":"/repo"`) || !strings.Contains(string(raw), `"planned":{`) {
		t.Errorf("%s %v", raw, err)
	}
	if _, err := l.Add(bg, at("1"), Request{}); err == nil {
		t.Error("an empty plan is no error")
	}
}

func TestClosing(t *testing.T) {
	w := newWorld(t)
	l := w.open("s", Client, true)
	defer l.Close()
	p := add(t, l, at("1"), request("f"))
	if c := current(t, l, at("12"), true); c.Moved != Descendant || c.Plan == nil || c.Plan.Base != "1" {
		t.Errorf("descendant: %+v", c)
	}
	p2 := add(t, l, at("12"), request("g"))
	if p2.Begun || p2.Plan.Base != "1" || p2.Moved != Descendant {
		t.Errorf("the base moved: %+v", p2)
	}
	grade(t, l, p.Plan.ID, "review", nil)
	if p := add(t, l, at("1"), request("h")); p.Begun {
		t.Errorf("a review closed the plan")
	}
	grade(t, l, p.Plan.ID, "pass", nil)
	if c := current(t, l, at("1"), true); c.Plan == nil {
		t.Error("a passed plan is gone before the next flow_plan")
	}
	p3 := add(t, l, at("12"), request("f"))
	if !p3.Begun || p3.Closed == nil || p3.Closed.Reason != ReasonPassed || p3.Plan.Base != "12" {
		t.Errorf("after a pass: %+v", p3)
	}
	if other, err := l.Elsewhere(bg, p3.Plan.ID); err != nil || !other["g"] || !other["h"] {
		t.Errorf("passed plan covers: %v %v", other, err)
	}
	fresh := request("k")
	fresh.Fresh = true
	p4 := add(t, l, at("12"), fresh)
	if !p4.Begun || p4.Closed == nil || p4.Closed.Reason != ReasonFresh {
		t.Errorf("fresh: %+v", p4)
	}
	c := current(t, l, at("9"), true)
	if c.Plan != nil || c.Closed == nil || c.Closed.ID != p4.Plan.ID || c.Closed.Reason != ReasonMoved {
		t.Errorf("elsewhere: %+v", c)
	}
	p5 := add(t, l, at("9"), request("f"))
	if p6 := add(t, l, at("7"), request("f")); !p6.Begun || p6.Moved != Elsewhere || p6.Closed.ID != p5.Plan.ID {
		t.Errorf("elsewhere, planned: %+v", p6)
	}
	if _, err := l.Current(bg, Head{Commit: "8", Descends: func(context.Context, string) (bool, error) { return false, errors.New("boom") }}, true); err == nil {
		t.Error("an error of git is swallowed")
	}
}

func TestAdoption(t *testing.T) {
	w := newWorld(t)
	dead := w.open("server-dead", Server, true)
	pre := request("f")
	pre.Preexisting = func(context.Context) (map[string]string, error) { return map[string]string{"old": "h"}, nil }
	p := add(t, dead, at("1"), pre)
	dead.Located(bg, "f", Pin{Site: "12"}, true)
	cli := w.open("cli", CLI, false)
	add(t, cli, at("1"), request("c"))
	client := w.open("client", Client, true)
	add(t, client, at("1"), request("k"))
	cli.Close()
	client.Close()

	living := w.open("server-2", Server, true)
	if c := current(t, living, at("1"), true); c.Plan != nil {
		t.Errorf("adopted a living server's plan: %+v", c)
	}
	living.Close()
	dead.Close()

	// Its first plan call was no check: it begins its own.
	planner := w.open("server-3", Server, true)
	add(t, planner, at("1"), request("z"))
	if c := current(t, planner, at("1"), true); c.Adopted || c.Plan == nil || c.Plan.ID == p.Plan.ID {
		t.Errorf("a planning server adopted: %+v", c)
	}
	noServer := w.open("client-2", Client, false)
	if c := current(t, noServer, at("1"), true); c.Plan != nil {
		t.Errorf("a command adopted: %+v", c)
	}
	noServer.Close()

	heir := w.open("client-3", Client, true)
	defer heir.Close()
	if c := current(t, heir, at("1"), false); c.Plan != nil {
		t.Errorf("adopted without being asked: %+v", c)
	}
	c := current(t, heir, at("1"), true)
	if !c.Adopted || c.Plan == nil || c.Plan.ID != p.Plan.ID || c.AdoptedFrom != "server-dead" {
		t.Fatalf("not adopted: %+v", c)
	}
	if c := current(t, heir, at("1"), true); c.Adopted || c.Plan == nil {
		t.Errorf("said twice, or lost: %+v", c)
	}
	if before, ok, err := heir.Preexisting(bg); err != nil || !ok || before["old"] != "h" {
		t.Errorf("what differed before was not taken over: %v %v %v", before, ok, err)
	}
	if pins, err := heir.Pins(bg); err != nil || pins["f"].Site != "12" {
		t.Errorf("pins: %v %v", pins, err)
	}
	planner.Close()
	late := w.open("server-4", Server, true)
	defer late.Close()
	if c := current(t, late, at("1"), true); c.Plan == nil || !c.Adopted || c.AdoptedFrom != "server-3" {
		t.Errorf("the newest was not adopted: %+v", c)
	}
}

func TestPreexisting(t *testing.T) {
	w := newWorld(t)
	for _, kind := range []Kind{Client, CLI} {
		l := w.open(string(kind), kind, false)
		calls := 0
		plan := func(fresh bool) {
			r := request("f")
			r.Fresh = fresh
			r.Preexisting = func(context.Context) (map[string]string, error) {
				calls++
				return map[string]string{"n": fmt.Sprint(calls)}, nil
			}
			add(t, l, at("1"), r)
		}
		plan(false)
		plan(false)
		plan(true)
		want := map[Kind]int{Client: 1, CLI: 2}[kind]
		before, ok, err := l.Preexisting(bg)
		if err != nil || !ok || calls != want || before["n"] != fmt.Sprint(want) {
			t.Errorf("%s: %d calls, %v %v %v", kind, calls, before, ok, err)
		}
		if err := l.SetPreexisting(bg, map[string]string{"x": "y"}); err != nil {
			t.Error(err)
		}
		if again, _, _ := l.Preexisting(bg); again["x"] != "" {
			t.Error("recorded twice")
		}
		l.Close()
	}
}

func TestElsewhere(t *testing.T) {
	w := newWorld(t)
	a, b := w.open("a", Client, true), w.open("b", Client, true)
	defer a.Close()
	defer b.Close()
	pa := add(t, a, at("1"), request("f"))
	pb := add(t, b, at("1"), request("g"))
	if got, err := a.Elsewhere(bg, pa.Plan.ID); err != nil || !got["g"] || got["f"] {
		t.Errorf("%v %v", got, err)
	}
	grade(t, b, pb.Plan.ID, "pass", nil)
	add(t, b, at("1"), request("h"))
	if got, _ := a.Elsewhere(bg, pa.Plan.ID); got["g"] || !got["h"] {
		t.Errorf("another session's closed plan counts: %v", got)
	}
}

func TestLocated(t *testing.T) {
	w := newWorld(t)
	l := w.open("s", Client, true)
	defer l.Close()
	for i, want := range []struct {
		valid      bool
		invalid    int
		unverified bool
	}{{false, 1, false}, {false, 2, true}, {true, 0, false}, {false, 1, false}} {
		n, pin, err := l.Located(bg, "a.py:f", Pin{Site: fmt.Sprint(i)}, want.valid)
		if err != nil || n != want.invalid || pin.Unverified != want.unverified {
			t.Errorf("%d: %d %+v %v", i, n, pin, err)
		}
	}
	if pins, err := l.Pins(bg); err != nil || len(pins) != 1 || pins["a.py:f"].Site != "2" {
		t.Errorf("%v %v", pins, err)
	}
	for i, want := range []int{1, 2, 3, 1, 1} {
		if n, err := l.Repeated(bg, "f", []string{"m x", "m x", "m x", "m y", "m x"}[i]); err != nil || n != want {
			t.Errorf("repeat %d: %d %v", i, n, err)
		}
	}
	if err := l.Remember(bg, "shown", []byte("text")); err != nil {
		t.Error(err)
	}
	if v, ok, err := l.Recall(bg, "shown"); err != nil || !ok || string(v) != "text" {
		t.Errorf("%q %v %v", v, ok, err)
	}
	if _, ok, _ := l.Recall(bg, "show"); ok {
		t.Error("a prefix is no key")
	}
}

func TestMemory(t *testing.T) {
	l, err := Open(bg, Config{Root: "/r", Session: Session{ID: "s", Kind: Server, Serving: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	add(t, l, at("1"), request("f"))
	if c := current(t, l, at("1"), true); c.Plan == nil || !l.Memory() {
		t.Errorf("%+v", c)
	}
	file := filepath.Join(t.TempDir(), "f")
	os.WriteFile(file, nil, 0o600)
	l2, err := Open(bg, Config{Home: &store.Home{LedgerDir: file + "/x"}, Root: "/r", Session: Session{ID: "s", Kind: Client}})
	if err != nil {
		t.Fatal(err)
	}
	defer l2.Close()
	if !l2.Memory() || l2.Note() == "" || l2.Note() != "" {
		t.Error("an unwritable home is not said, or not once")
	}
}

// One session in several processes, several sessions, one ledger.
func TestConcurrent(t *testing.T) {
	w := newWorld(t)
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			l := w.open(fmt.Sprintf("s%d", g/2), Client, true)
			defer l.Close()
			for i := range 10 {
				if _, err := l.Add(bg, at("1"), request(fmt.Sprintf("f%d_%d", g, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	l := w.open("s0", Client, true)
	defer l.Close()
	plans, err := l.Plans(bg)
	if err != nil || len(plans) != 3 {
		t.Fatalf("%d plans, %v", len(plans), err)
	}
	for _, p := range plans {
		if d, err := l.Deltas(bg, p.ID); err != nil || len(d) != 20 {
			t.Errorf("plan %d: %d deltas, %v", p.ID, len(d), err)
		}
	}
}

// child plans until it is killed and prints each function it was told is
// recorded.
func child() {
	home := &store.Home{LedgerDir: os.Getenv("LEDGER_CHILD")}
	l, err := Open(bg, Config{Home: home, Root: "/repo", Session: Session{ID: fmt.Sprintf("server-%d", os.Getpid()), Kind: Server, Serving: true}})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	for i := 0; ; i++ {
		f := fmt.Sprintf("f%d_%d", os.Getpid(), i)
		if _, err := l.Add(bg, at("1"), request(f)); err != nil {
			fmt.Println("error", err)
			return
		}
		fmt.Println(f)
	}
}

func TestKilled(t *testing.T) {
	w := newWorld(t)
	rounds := 30
	if testing.Short() {
		rounds = 5
	}
	var acknowledged []string
	for range rounds {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "LEDGER_CHILD="+w.home.LedgerDir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var once sync.Once
		scan := bufio.NewScanner(out)
		for scan.Scan() {
			if strings.HasPrefix(scan.Text(), "error") {
				t.Fatal(scan.Text())
			}
			acknowledged = append(acknowledged, scan.Text())
			once.Do(func() {
				time.AfterFunc(time.Duration(rand.IntN(20_000))*time.Microsecond, func() { cmd.Process.Kill() })
			})
		}
		cmd.Wait()
	}
	heir := w.open("heir", Client, true)
	defer heir.Close()
	if c := current(t, heir, at("1"), true); !c.Adopted {
		t.Errorf("the plan of a killed server was not adopted: %+v", c)
	}
	have := map[string]bool{}
	plans, err := heir.Plans(bg)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plans {
		deltas, err := heir.Deltas(bg, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range deltas {
			have[d.Function] = true
		}
	}
	for _, f := range acknowledged {
		if !have[f] {
			t.Errorf("%s was acknowledged and is lost", f)
		}
	}
	t.Logf("%d acknowledged plans, %d recorded, %d kills", len(acknowledged), len(have), rounds)
}
