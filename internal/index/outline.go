package index

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"flowplan/internal/lang"
	"flowplan/internal/source"
	"flowplan/internal/store"
	"flowplan/internal/syntax"
)

// hash is half a SHA-256, as raw bytes: enough to tell two texts apart.
func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return string(sum[:16])
}

// outline parses a file just far enough to list what it defines. The error is
// the reason to skip it. A language that panics on a file costs that file.
func (ix *Index) outline(ctx context.Context, path string, data []byte) (language string, symbols []store.Symbol, err error) {
	defer func() {
		if p := recover(); p != nil {
			symbols, err = nil, fmt.Errorf("cannot be outlined: %v; please report this file", p)
		}
	}()
	l := ix.cfg.Languages.ForPath(path, data[:min(len(data), lang.HeadBytes)])
	if l == nil {
		return "", nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, ix.cfg.Limits.FileTime)
	defer cancel()
	_, decls, err := Outline(ctx, l, path, data, ix.readFile)
	switch {
	case errors.Is(err, syntax.ErrTooLarge):
		return l.Name, nil, err
	case ctx.Err() != nil:
		return l.Name, nil, fmt.Errorf("not parsed within %s", ix.cfg.Limits.FileTime)
	case err != nil:
		return l.Name, nil, err
	}
	return l.Name, Symbols(l, path, decls), nil
}

func (ix *Index) readFile(path string) ([]byte, error) {
	rel, ok := ix.cfg.FS.Rel(path)
	if !ok {
		return nil, fmt.Errorf("read %q: expected a path inside the root", path)
	}
	data, _, err := ix.cfg.FS.Read(rel, ix.cfg.Limits.FileBytes)
	return data, err
}

// Outline parses a text just far enough to list its definitions.
func Outline(ctx context.Context, l *lang.Language, path string, data []byte, readFile func(string) ([]byte, error)) (*source.File, []*lang.Decl, error) {
	f := source.New(path, data)
	tree, err := l.Parse(ctx, f, lang.Options{Outline: true, ReadFile: readFile})
	if err != nil {
		return nil, nil, err
	}
	return f, tree.Decls(), nil
}

func Symbols(l *lang.Language, path string, decls []*lang.Decl) []store.Symbol {
	symbols := make([]store.Symbol, len(decls))
	for i, d := range decls {
		name := d.Name
		if inner, ok := strings.CutPrefix(name, "<class "); ok { // looked up as the class's name
			name = strings.TrimSuffix(inner, ">")
		}
		symbols[i] = store.Symbol{
			Path: path, Language: l.Name, Name: name, QualifiedName: d.QualifiedName, Ordinal: max(d.Ordinal, 1),
			Kind: string(d.Kind), Line: d.Line, EndLine: d.EndLine, Parent: d.Parent,
			Test: l.IsTest != nil && l.IsTest(path, d.QualifiedName),
		}
	}
	return symbols
}
