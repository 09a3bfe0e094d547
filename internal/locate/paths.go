package locate

import (
	"context"
	"path"
	"slices"
	"strings"

	"flowplan/internal/index"
	"flowplan/internal/lang"
	"flowplan/internal/source"
	"flowplan/internal/store"
)

// splitPath takes a path off the front of a query. isPath: the query is meant
// as one, whether or not there is such a file.
func (l *Locator) splitPath(ctx context.Context, q string) (files []string, rest string, isPath bool, err error) {
	// The shortest prefix that is a file, at a colon or the end.
	for i := 0; i <= len(q); i++ {
		if i < len(q) && q[i] != ':' {
			continue
		}
		head := strings.TrimSpace(q[:i])
		if !l.pathLike(head) {
			continue
		}
		isPath = true
		files, err = l.resolvePath(ctx, head)
		if err != nil || len(files) > 0 {
			return files, strings.TrimLeft(strings.TrimSpace(q[i:]), ":"), true, err
		}
	}
	return nil, q, isPath, nil
}

// pathLike: it has a slash, or an extension or name that some language claims.
func (l *Locator) pathLike(s string) bool {
	if s == "" || strings.ContainsAny(s, "()<>") || strings.Contains(s, "::") {
		return false
	}
	base := path.Base(s)
	return strings.Contains(s, "/") || path.Ext(base) != "" && len(l.langs.Candidates(base)) > 0
}

// resolvePath finds the files meant: the very path, else those it is a suffix
// of, else those in another case.
func (l *Locator) resolvePath(ctx context.Context, p string) ([]string, error) {
	rel, inside := l.fs.Rel(p)
	if inside {
		if st, err := l.fs.Stat(rel); err == nil && st.Regular() {
			return []string{rel}, nil
		}
	}
	if path.IsAbs(p) && !inside {
		return nil, nil
	}
	if err := l.ix.Ensure(ctx); err != nil {
		return nil, err
	}
	known, err := l.ix.Files(ctx)
	if err != nil {
		return nil, err
	}
	suffix := strings.TrimLeft(path.Clean(p), "./")
	if inside {
		suffix = rel
	}
	var same, folded []string
	for k := range known {
		switch {
		case strings.HasSuffix(k, "/"+suffix):
			same = append(same, k)
		case strings.EqualFold(k, suffix) || len(k) > len(suffix) && k[len(k)-len(suffix)-1] == '/' && strings.EqualFold(k[len(k)-len(suffix):], suffix):
			folded = append(folded, k)
		}
	}
	if len(same) == 0 {
		same = folded
	}
	slices.Sort(same)
	return same, nil
}

// modules lists the files whose module path ends in the name's parts.
func (l *Locator) modules(ctx context.Context, n name) ([]string, error) {
	known, err := l.ix.Files(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for p, f := range known {
		if f.Language != "" && f.Skipped == "" && hasSuffix(modulePath(p), n.parts) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out, nil
}

// modulePath is a path as the parts of a dotted name.
func modulePath(p string) []string {
	parts := strings.Split(strings.TrimSuffix(p, path.Ext(p)), "/")
	if len(parts) > 1 && parts[len(parts)-1] == "__init__" {
		parts = parts[:len(parts)-1]
	}
	return parts
}

func hasSuffix(all, tail []string) bool {
	return len(tail) <= len(all) && slices.Equal(all[len(all)-len(tail):], tail)
}

// atLine finds the innermost function around a line. The file is parsed as it
// is now: a line means nothing in an older text.
func (l *Locator) atLine(ctx context.Context, res Result, files []string, line int) (Result, error) {
	var found []candidate
	for _, p := range files {
		m, ok, reason, err := l.innermost(ctx, p, line)
		if err != nil {
			return res, err
		}
		if ok {
			found = append(found, candidate{Match: m})
		} else {
			res.Reason = reason
		}
	}
	switch len(found) {
	case 0:
	case 1:
		res.Kind, res.Matches, res.Reason = One, []Match{found[0].Match}, ""
	default:
		slices.SortStableFunc(found, order)
		res.Kind, res.Clear, res.Reason = Ambiguous, found[0].class() < found[1].class(), ""
		for _, c := range found {
			res.Matches = append(res.Matches, c.Match)
		}
	}
	return res, nil
}

func (l *Locator) innermost(ctx context.Context, p string, line int) (m Match, ok bool, reason string, err error) {
	symbols, decls, f, err := l.parse(ctx, p)
	switch {
	case err != nil && ctx.Err() == nil:
		return m, false, "the file cannot be read: " + err.Error(), nil
	case err != nil:
		return m, false, "", err
	case f == nil:
		return m, false, "the file is of no language that flowplan reads", nil
	}
	if line < 1 || line > f.NumLines() {
		return m, false, "no such line: " + p + " has " + itoa(f.NumLines()) + " lines", nil
	}
	best := -1
	for i, d := range decls { // outer before inner: the last that holds it
		if d.Parent < 0 || f.Line(d.Span.Start) <= line && line <= d.EndLine {
			best = i
		}
	}
	if best < 0 {
		return m, false, "no function around that line", nil
	}
	m = match(symbols[best])
	m.AtLine = line
	return m, true, "", nil
}

// parse outlines a file as it is now. A nil file: of no language.
func (l *Locator) parse(ctx context.Context, p string) ([]store.Symbol, []*lang.Decl, *source.File, error) {
	data, _, err := l.fs.Read(p, maxFile)
	if err != nil {
		return nil, nil, nil, err
	}
	language := l.langs.ForPath(p, data[:min(len(data), lang.HeadBytes)])
	if language == nil {
		return nil, nil, nil, nil
	}
	f, decls, err := index.Outline(ctx, language, p, data, func(string) ([]byte, error) { return nil, rootError })
	if err != nil {
		return nil, nil, nil, err
	}
	return index.Symbols(language, p, decls), decls, f, nil
}
