package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// changeKind says which of a client's files a change is to.
type changeKind string

const (
	kindConfig changeKind = "registration"
	kindSkill  changeKind = "skill"
	kindLean   changeKind = "denied tools"
)

// change is what setup did to one file, enough to take it back.
type change struct {
	Kind    changeKind `json:"kind"`
	Path    string     `json:"path"` // the file itself, links resolved
	Existed bool       `json:"existed"`
	Dirs    []string   `json:"dirs"` // directories made for it, outermost first
	splice
	After string   `json:"after"` // hash of the file as setup left it
	Made  int      `json:"made"`  // how many objects around the entry are ours
	Items []string `json:"items"` // the tools denied
}

// receipt is what setup did for one client in one scope. It holds the text
// that was taken out and put in, never the rest of a file, which may hold
// secrets.
type receipt struct {
	Config  string   `json:"config"`
	Dirs    []string `json:"dirs"` // directories made for the files and for this one
	Changes []change `json:"changes"`
}

func (r *receipt) find(kind changeKind) *change {
	if r == nil {
		return nil
	}
	if i := slices.IndexFunc(r.Changes, func(c change) bool { return c.Kind == kind }); i >= 0 {
		return &r.Changes[i]
	}
	return nil
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func receiptPath(p place) string {
	return filepath.Join(p.Host.Receipts, p.client.name+"-"+p.Scope+"-"+hash([]byte(p.config))[:16]+".json")
}

// readReceipt is nil where there is none.
func readReceipt(p place) (*receipt, error) {
	data, err := os.ReadFile(receiptPath(p))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var r receipt
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s: %w; delete it, then removal goes by what the files say", receiptPath(p), err)
	}
	return &r, nil
}

// commit writes the receipt, then the files: a crash in between leaves a
// receipt of a change not made, which removal sees and passes over.
func commit(p place, edits []*edit) error {
	changed := false
	for _, e := range edits {
		changed = changed || !e.unchanged
	}
	if !changed {
		return nil
	}
	for _, e := range edits { // what cannot be written is found before anything is
		if !e.unchanged {
			if err := writable(e.change.Path); err != nil {
				return err
			}
		}
	}
	r := receipt{Config: p.config}
	old, err := readReceipt(p)
	if err != nil {
		return err
	}
	if old != nil {
		r.Dirs = old.Dirs
	}
	for _, e := range edits {
		if e.change != nil {
			r.Changes = append(r.Changes, *e.change)
		}
	}
	dirs, err := makeDirs(p.Host.Receipts)
	if err != nil {
		return fmt.Errorf("no record of the change can be kept, so nothing was changed: %w; set FLOWPLAN_HOME to a directory that can be written", err)
	}
	r.Dirs = append(r.Dirs, dirs...)
	for _, e := range edits {
		if e.unchanged {
			continue
		}
		made, err := makeDirs(filepath.Dir(e.change.Path))
		if err != nil {
			removeDirs(append(r.Dirs, made...))
			return err
		}
		r.Dirs = append(r.Dirs, made...)
	}
	if err := saveReceipt(p, r); err != nil {
		return err
	}
	for _, e := range edits {
		if e.unchanged {
			continue
		}
		if err := replace(e.change.Path, e.after); err != nil {
			return err
		}
	}
	return nil
}

func saveReceipt(p place, r receipt) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	path := receiptPath(p)
	if !exists(path) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
		return nil
	}
	return replace(path, data)
}

// dropReceipt deletes the receipt and the directories that setup made. One
// that another client's files stand in by now is left to that client's receipt.
func dropReceipt(p place, r *receipt) error {
	if r == nil {
		return nil
	}
	if err := os.Remove(receiptPath(p)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	left := removeDirs(r.Dirs)
	others, err := filepath.Glob(filepath.Join(p.Host.Receipts, "*.json"))
	if err != nil || len(left) == 0 || len(others) == 0 {
		return err
	}
	data, err := os.ReadFile(others[0])
	if err != nil {
		return err
	}
	var heir receipt
	if err := json.Unmarshal(data, &heir); err != nil {
		return fmt.Errorf("%s: %w", others[0], err)
	}
	heir.Dirs = append(heir.Dirs, left...)
	if data, err = json.MarshalIndent(heir, "", " "); err != nil {
		return err
	}
	return replace(others[0], data)
}
