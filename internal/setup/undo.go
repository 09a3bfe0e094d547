package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// undo is the taking back of one change.
type undo struct {
	kind   changeKind
	path   string
	before []byte
	after  []byte
	delete bool
	note   string
}

func (u *undo) needed() bool { return u.delete || !bytes.Equal(u.before, u.after) }

func (u *undo) summary() string {
	if u.delete {
		return fmt.Sprintf("%s: removed, %s", u.kind, u.path)
	}
	return fmt.Sprintf("%s: taken out of %s", u.kind, u.path)
}

func (u *undo) preview() []string {
	if u.delete {
		return []string{"would remove " + u.path}
	}
	return preview(u.path, u.before, u.after)
}

func (u *undo) apply() error {
	if err := writable(u.path); err != nil {
		return err
	}
	if !u.delete {
		return replace(u.path, u.after)
	}
	if err := os.Remove(u.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return plainError(u.path, err)
	}
	return nil
}

// takeBack is how one kind of change is undone; nil where there is nothing.
func takeBack(p place, kind changeKind, c *change) (*undo, error) {
	path := p.config
	switch {
	case c != nil:
		path = c.Path
	case kind == kindSkill:
		path = p.skill
	case kind == kindLean:
		return nil, nil // which denials are ours, only a receipt knows
	}
	real, data, existed, err := load(path)
	if err != nil {
		return nil, err
	}
	u := &undo{kind: kind, path: real, before: data, after: data}
	if !existed {
		return nil, nil
	}
	if c != nil {
		if kind == kindSkill && hash(data) != c.After {
			u.note = fmt.Sprintf("note: %s was changed since and is left; delete it by hand", real)
			return u, nil
		}
		u.after = p.restored(c, data)
		u.delete = !c.Existed && vacant(u.after)
		return u, nil
	}
	if kind == kindSkill {
		u.delete = ourSkill(data)
		return u, nil
	}
	entry, err := p.registered(data)
	if err != nil {
		return nil, malformed(path, err)
	}
	if entry == nil {
		return nil, nil
	}
	if !ours(entry) {
		u.note = fmt.Sprintf("note: the server flowplan in %s is not one that flowplan registered and is left", real)
		return u, nil
	}
	u.after, _ = p.without(data, 0)
	return u, nil
}

// vacant says whether a file that setup created holds nothing of anybody else.
func vacant(data []byte) bool {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte(bom)))
	if len(data) == 0 {
		return true
	}
	d, err := parseJSON(data)
	return err == nil && !d.blank() && empty(&d.root) && len(bytes.TrimSpace(d.root.BeforeExtra)) == 0 && len(bytes.TrimSpace(d.root.AfterExtra)) == 0
}

// restored is the file without the change: as it was, if nobody edited it
// since; else without exactly our text; else without the entry.
func (p place) restored(c *change, data []byte) []byte {
	if hash(data) == c.After {
		return c.undo(data)
	}
	if c.Kind == kindSkill {
		return data
	}
	if len(c.Inserted) > 0 && bytes.Count(data, c.Inserted) == 1 {
		out := splice{bytes.Index(data, c.Inserted), c.Inserted, c.Removed}.apply(data)
		if p.sound(c, out) {
			return out
		}
	}
	if c.Kind == kindLean {
		out, _ := removeElements(data, denyPath(), c.Items, c.Made)
		return out
	}
	out, _ := p.without(data, c.Made)
	return out
}

// sound says whether a file reads well and holds no registration.
func (p place) sound(c *change, data []byte) bool {
	if c.Kind == kindLean {
		_, err := parseJSON(data)
		return err == nil
	}
	entry, err := p.registered(data)
	return err == nil && entry == nil
}

// without takes the entry out by parsing, and `made` containers around it.
func (p place) without(data []byte, made int) ([]byte, bool) {
	if p.client.toml {
		return removeTOML(data, p.path())
	}
	return removeJSON(data, p.path(), made)
}
