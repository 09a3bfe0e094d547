package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

const (
	indexVersion     = 1
	indexVersionText = "1"
)

// A file's id is derived from its path (see pathID): an index over the paths
// would hold each a second time.
const indexSchema = `
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE files(
	id INTEGER PRIMARY KEY,
	path TEXT NOT NULL,
	language TEXT NOT NULL,
	stat INTEGER NOT NULL,
	racy INTEGER NOT NULL,
	hash BLOB NOT NULL,
	skipped TEXT NOT NULL,
	symbols INTEGER NOT NULL,
	outline BLOB NOT NULL);
CREATE TABLE names(name INTEGER NOT NULL, file INTEGER NOT NULL, PRIMARY KEY(name, file)) WITHOUT ROWID;
`

// File is what the index knows of one file.
type File struct {
	Path     string
	Language string // "" for a file of no language, kept so that it is not looked at again
	Stat     int64  // a hash of its stat tuple
	Racy     bool   // it may have been written since without changing the tuple
	Hash     string // of the content, raw bytes
	Skipped  string // why it has no symbols, or ""
	Symbols  int
}

// Update is a change of one file's record. Symbols replace the earlier ones,
// unless KeepSymbols.
type Update struct {
	File
	Symbols     []Symbol
	KeepSymbols bool
}

// Index is the index database of one work tree.
type Index struct {
	db     *sql.DB
	Memory bool // nothing is kept when the process ends
}

// OpenIndex opens the index in path. One that cannot be read is built anew;
// where it cannot be written the index is in memory and note says why.
func OpenIndex(ctx context.Context, path, root string) (ix *Index, note string, err error) {
	if path == "" {
		ix, err = OpenMemoryIndex(ctx, root)
		return ix, "", err
	}
	ix, err = openIndexFile(ctx, path, root)
	if Unreadable(err) {
		DropIndex(path)
		ix, err = openIndexFile(ctx, path, root)
		note = "the index could not be read and is built anew"
	}
	if err == nil || ctx.Err() != nil {
		return ix, note, err
	}
	note = fmt.Sprintf("the index is kept in memory: cannot write %s (%v); set FLOWPLAN_HOME to a directory that can be written", path, err)
	ix, err = OpenMemoryIndex(ctx, root)
	return ix, note, err
}

// OpenMemoryIndex makes an index that ends with the process.
func OpenMemoryIndex(ctx context.Context, root string) (*Index, error) {
	db, err := open(ctx, "", "")
	if err != nil {
		return nil, fmt.Errorf("open index in memory: %w", err)
	}
	if err := create(ctx, db, indexSchema, indexVersion, root); err != nil {
		db.Close()
		return nil, fmt.Errorf("open index in memory: %w", err)
	}
	return &Index{db: db, Memory: true}, nil
}

func openIndexFile(ctx context.Context, path, root string) (*Index, error) {
	if err := makePrivate(path); err != nil {
		return nil, err
	}
	db, err := open(ctx, path, "NORMAL")
	if err != nil {
		return nil, err
	}
	v, err := version(ctx, db)
	if err == nil && v == 0 {
		err = create(ctx, db, indexSchema, indexVersion, root)
	} else if err == nil && v != indexVersion {
		err = errDamaged
	}
	if err == nil { // a read of each table finds most damage; the rest shows at use
		_, err = db.ExecContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM files LIMIT 1), (SELECT 1 FROM names LIMIT 1)")
		if err != nil && !Unwritable(err) && ctx.Err() == nil && !isBusy(err) {
			err = errDamaged
		}
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return &Index{db: db}, nil
}

// Close ends the use of the database.
func (ix *Index) Close() error { return ix.db.Close() }

// Files lists every file known, by path.
func (ix *Index) Files(ctx context.Context) (map[string]File, error) {
	rows, err := ix.db.QueryContext(ctx, fileColumns)
	list, err := collect(rows, err, scanFile)
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	files := make(map[string]File, len(list))
	for _, f := range list {
		files[f.Path] = f
	}
	return files, nil
}

// File is the record of one file, if there is one.
func (ix *Index) File(ctx context.Context, path string) (File, bool, error) {
	rows, err := ix.db.QueryContext(ctx, fileColumns+byPath, pathID(path), pathID(path)+maxProbe, path)
	list, err := collect(rows, err, scanFile)
	if err != nil {
		return File{}, false, fmt.Errorf("read index: %w", err)
	}
	if len(list) == 0 {
		return File{}, false, nil
	}
	return list[0], true, nil
}

const (
	fileColumns = "SELECT path, language, stat, racy, hash, skipped, symbols FROM files "
	byPath      = "WHERE id BETWEEN ? AND ? AND path = ?"
	// maxProbe is how far from its place a file may stand when others have the
	// same id: rare below a million files.
	maxProbe = 63
)

func scanFile(rows *sql.Rows) (File, error) {
	var f File
	var hash []byte
	err := rows.Scan(&f.Path, &f.Language, &f.Stat, &f.Racy, &hash, &f.Skipped, &f.Symbols)
	f.Hash = string(hash)
	return f, err
}

// Write makes all changes or none.
func (ix *Index) Write(ctx context.Context, updates []Update, removed []string) error {
	if len(updates) == 0 && len(removed) == 0 {
		return nil
	}
	err := inTx(ctx, ix.db, func(tx *sql.Tx) error {
		w, err := newWriter(ctx, tx)
		if err != nil {
			return err
		}
		for _, path := range removed {
			if err := w.remove(path); err != nil {
				return err
			}
		}
		// In order of id, so that pages fill up instead of splitting.
		updates = slices.SortedFunc(slices.Values(updates), func(a, b Update) int { return cmp.Compare(pathID(a.Path), pathID(b.Path)) })
		for _, u := range updates {
			if err := w.update(u); err != nil {
				return err
			}
		}
		return w.flush()
	})
	if err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}

type writer struct {
	ctx                           context.Context
	find, taken, put, touch, drop *sql.Stmt
	outline, addName, dropName    *sql.Stmt
	added                         []nameRow
	packer
}

type nameRow struct{ name, file int64 }

func newWriter(ctx context.Context, tx *sql.Tx) (*writer, error) {
	w := &writer{ctx: ctx}
	for stmt, text := range map[**sql.Stmt]string{
		&w.find:     "SELECT id FROM files " + byPath,
		&w.taken:    "SELECT id FROM files WHERE id BETWEEN ? AND ? ORDER BY id",
		&w.outline:  "SELECT outline FROM files WHERE id = ?",
		&w.put:      "INSERT OR REPLACE INTO files(id, path, language, stat, racy, hash, skipped, symbols, outline) VALUES(?,?,?,?,?,?,?,?,?)",
		&w.touch:    "UPDATE files SET stat = ?, racy = ? WHERE id = ? AND hash = ?",
		&w.drop:     "DELETE FROM files WHERE id = ?",
		&w.addName:  "INSERT OR IGNORE INTO names(name, file) VALUES(?, ?)",
		&w.dropName: "DELETE FROM names WHERE name = ? AND file = ?",
	} {
		s, err := tx.PrepareContext(ctx, text) // closed with the transaction
		if err != nil {
			return nil, err
		}
		*stmt = s
	}
	return w, nil
}

// id finds a file's row; false where it has none.
func (w *writer) id(path string) (int64, bool, error) {
	var id int64
	at := pathID(path)
	err := w.find.QueryRowContext(w.ctx, at, at+maxProbe, path).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return id, err == nil, err
}

// free finds an id for a new file.
func (w *writer) free(path string) (int64, error) {
	at := pathID(path)
	rows, err := w.taken.QueryContext(w.ctx, at, at+maxProbe)
	taken, err := collect(rows, err, func(rows *sql.Rows) (id int64, err error) { return id, rows.Scan(&id) })
	if err != nil {
		return 0, err
	}
	for _, id := range taken {
		if id != at {
			break
		}
		at++
	}
	return at, nil
}

func (w *writer) remove(path string) error {
	id, ok, err := w.id(path)
	if err != nil || !ok {
		return err
	}
	if err := w.dropNames(id); err != nil {
		return err
	}
	_, err = w.drop.ExecContext(w.ctx, id)
	return err
}

// dropNames takes the names of a file's present outline out.
func (w *writer) dropNames(id int64) error {
	var data []byte
	if err := w.outline.QueryRowContext(w.ctx, id).Scan(&data); err != nil {
		return err
	}
	symbols, err := unpackOutline(data, "", "")
	if err != nil {
		return err
	}
	for _, key := range nameKeys(symbols) {
		if _, err := w.dropName.ExecContext(w.ctx, key, id); err != nil {
			return err
		}
	}
	return nil
}

func nameKeys(symbols []Symbol) []int64 {
	seen := make(map[int64]bool, len(symbols))
	var keys []int64
	for _, s := range symbols {
		k := nameKey(s.Name)
		if !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	return keys
}

func (w *writer) update(u Update) error {
	f := u.File
	id, known, err := w.id(f.Path)
	switch {
	case err != nil:
		return err
	case known && u.KeepSymbols:
		_, err := w.touch.ExecContext(w.ctx, f.Stat, f.Racy, id, []byte(f.Hash))
		return err
	case u.KeepSymbols: // removed by another process meanwhile
		return nil
	case known:
		err = w.dropNames(id)
	default:
		id, err = w.free(f.Path)
	}
	if err != nil {
		return err
	}
	if _, err := w.put.ExecContext(w.ctx, id, f.Path, f.Language, f.Stat, f.Racy, []byte(f.Hash), f.Skipped, len(u.Symbols), w.pack(encodeOutline(u.Symbols))); err != nil {
		return err
	}
	for _, key := range nameKeys(u.Symbols) {
		w.added = append(w.added, nameRow{key, id})
	}
	return nil
}

// flush writes the names in key order: pages fill up instead of splitting.
func (w *writer) flush() error {
	sortNames(w.added)
	for _, n := range w.added {
		if _, err := w.addName.ExecContext(w.ctx, n.name, n.file); err != nil {
			return err
		}
	}
	return nil
}

// Named lists the symbols of that name, in any case, over all files.
func (ix *Index) Named(ctx context.Context, name string) ([]Symbol, error) {
	all, err := ix.outlines(ctx, "WHERE id IN (SELECT file FROM names WHERE name = ?)", nameKey(name))
	if err != nil {
		return nil, err
	}
	var out []Symbol
	for _, s := range all {
		if strings.EqualFold(s.Name, name) {
			out = append(out, s)
		}
	}
	return out, nil
}

// Outline lists the symbols of one file in order of line.
func (ix *Index) Outline(ctx context.Context, path string) ([]Symbol, error) {
	return ix.outlines(ctx, byPath, pathID(path), pathID(path)+maxProbe, path)
}

// Symbols lists every symbol of every file.
func (ix *Index) Symbols(ctx context.Context) ([]Symbol, error) { return ix.outlines(ctx, "") }

func (ix *Index) outlines(ctx context.Context, where string, args ...any) ([]Symbol, error) {
	rows, err := ix.db.QueryContext(ctx, "SELECT path, language, outline FROM files "+where+" ORDER BY path", args...)
	parts, err := collect(rows, err, func(rows *sql.Rows) ([]Symbol, error) {
		var path, language string
		var data []byte
		if err := rows.Scan(&path, &language, &data); err != nil {
			return nil, err
		}
		return unpackOutline(data, path, language)
	})
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	var out []Symbol
	for _, p := range parts {
		out = append(out, p...)
	}
	return out, nil
}

// Totals counts the files that have a language, and their symbols.
func (ix *Index) Totals(ctx context.Context) (files, symbols int, err error) {
	err = ix.db.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(symbols), 0) FROM files WHERE language <> '' AND skipped = ''").Scan(&files, &symbols)
	if err != nil {
		err = fmt.Errorf("read index: %w", err)
	}
	return files, symbols, err
}

// Built reports whether the index once held all files: until then a name that
// is found once may be there twice.
func (ix *Index) Built(ctx context.Context) (bool, error) {
	var n int
	err := ix.db.QueryRowContext(ctx, "SELECT count(*) FROM meta WHERE key = 'built'").Scan(&n)
	if err != nil {
		err = fmt.Errorf("read index: %w", err)
	}
	return n > 0, err
}

// SetBuilt says that the index holds all files.
func (ix *Index) SetBuilt(ctx context.Context) error {
	_, err := ix.db.ExecContext(ctx, "INSERT OR IGNORE INTO meta(key, value) VALUES('built', '1')")
	if err != nil {
		err = fmt.Errorf("write index: %w", err)
	}
	return err
}

// Bytes is the size of the database.
func (ix *Index) Bytes(ctx context.Context) (int64, error) {
	var n int64
	err := ix.db.QueryRowContext(ctx, "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()").Scan(&n)
	return n, err
}

// DropIndex deletes an index file, for it to be built anew.
func DropIndex(path string) {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		os.Remove(path + suffix)
	}
}
