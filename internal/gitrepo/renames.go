package gitrepo

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"path"
	"slices"
)

const (
	// minSimilar is the share of lines two texts must have in common to be one
	// file under two names.
	minSimilar = 0.5
	// Above these, only identical content is paired: a quadratic comparison
	// of a mass move would cost more than it tells.
	maxPairs      = 10_000
	maxRenameText = 1 << 20
)

// pairRenames turns pairs of a deleted and an added file into renames, first by
// identical content, then by similarity, and returns all differences.
func (d *differ) pairRenames() ([]Difference, error) {
	out := d.changed
	byPath := func(a, b Difference) int { return cmp.Compare(a.Path, b.Path) }
	slices.SortFunc(d.added, byPath)
	slices.SortFunc(d.deleted, byPath)
	if len(d.added) > 0 && len(d.deleted) > 0 {
		out = append(out, d.identical()...)
		if n := len(d.added) * len(d.deleted); n > 0 && n <= maxPairs {
			pairs, err := d.similar()
			if err != nil {
				return nil, err
			}
			out = append(out, pairs...)
		}
	}
	return append(append(out, d.added...), d.deleted...), nil
}

func rename(from, to Difference) Difference {
	return Difference{Status: Renamed, Path: to.Path, OldPath: from.OldPath, OldID: from.OldID, OldMode: from.OldMode, NewMode: to.NewMode, Size: to.Size, Conflict: from.Conflict || to.Conflict}
}

// identical pairs files of the same blob, those of the same base name first.
func (d *differ) identical() []Difference {
	byID := map[string][]int{}
	for i, del := range d.deleted {
		if del.OldMode != ModeGitlink {
			byID[del.OldID] = append(byID[del.OldID], i)
		}
	}
	idLen := len(d.deleted[0].OldID)
	ids := make([]string, len(d.added))
	for i, a := range d.added {
		data, err := d.r.addedContent(a)
		if err == nil && len(data) > 0 { // unreadable: no partner; empty files are all alike
			ids[i] = blobID(data, idLen)
		}
	}
	var pairs []Difference
	goneAdded, goneDeleted := map[int]bool{}, map[int]bool{}
	for _, sameBase := range []bool{true, false} {
		for i, a := range d.added {
			if goneAdded[i] || ids[i] == "" {
				continue
			}
			for _, j := range byID[ids[i]] {
				if goneDeleted[j] || sameBase && path.Base(d.deleted[j].Path) != path.Base(a.Path) {
					continue
				}
				pairs = append(pairs, rename(d.deleted[j], a))
				goneAdded[i], goneDeleted[j] = true, true
				break
			}
		}
	}
	d.drop(goneAdded, goneDeleted)
	return pairs
}

func (d *differ) drop(added, deleted map[int]bool) {
	d.added = without(d.added, added)
	d.deleted = without(d.deleted, deleted)
}

func without(list []Difference, gone map[int]bool) []Difference {
	var kept []Difference
	for i, x := range list {
		if !gone[i] {
			kept = append(kept, x)
		}
	}
	return kept
}

func (r *Repo) addedContent(a Difference) ([]byte, error) {
	st, err := r.FS.Stat(a.Path)
	if err != nil {
		return nil, err
	}
	return r.content(a.Path, st)
}

// lines is a text as a multiset of hashed lines.
type lines struct {
	count map[uint64]int
	n     int
}

func countLines(seed maphash.Seed, data []byte) lines {
	l := lines{count: map[uint64]int{}}
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		line = bytes.TrimSpace(line)
		if len(line) < 2 { // braces and blanks are in every file
			continue
		}
		l.count[maphash.Bytes(seed, line)]++
		l.n++
	}
	return l
}

// similarity is the share of lines in common, 0 to 1.
func (l lines) similarity(o lines) float64 {
	if l.n == 0 || o.n == 0 || 2*min(l.n, o.n) < max(l.n, o.n) {
		return 0
	}
	common := 0
	for h, n := range l.count {
		common += min(n, o.count[h])
	}
	return 2 * float64(common) / float64(l.n+o.n)
}

func (d *differ) similar() ([]Difference, error) {
	seed := maphash.MakeSeed()
	old := make([]lines, len(d.deleted))
	ids := make([]string, 0, len(d.deleted))
	at := make([]int, 0, len(d.deleted))
	for i, del := range d.deleted {
		if del.OldMode == ModeFile || del.OldMode == ModeExec {
			ids, at = append(ids, del.OldID), append(at, i)
		}
	}
	err := d.r.Blobs(d.ctx, ids, func(i int, data []byte) error {
		if len(data) <= maxRenameText {
			old[at[i]] = countLines(seed, data)
		}
		return nil
	})
	switch {
	case d.ctx.Err() != nil:
		return nil, err
	case err != nil: // a blob that a partial clone lacks: added and deleted it is
		return nil, nil
	}
	type pair struct {
		score    float64
		from, to int
	}
	var candidates []pair
	for j, a := range d.added {
		if a.Size > maxRenameText || a.NewMode == ModeSymlink {
			continue
		}
		data, err := d.r.addedContent(a)
		if err != nil {
			continue // unreadable: no partner, and still said to be added
		}
		text := countLines(seed, data)
		for i := range d.deleted {
			if s := text.similarity(old[i]); s >= minSimilar {
				if path.Base(d.deleted[i].Path) == path.Base(a.Path) {
					s += 0.1
				}
				candidates = append(candidates, pair{s, i, j})
			}
		}
	}
	slices.SortStableFunc(candidates, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	var pairs []Difference
	goneAdded, goneDeleted := map[int]bool{}, map[int]bool{}
	for _, c := range candidates {
		if !goneAdded[c.to] && !goneDeleted[c.from] {
			pairs = append(pairs, rename(d.deleted[c.from], d.added[c.to]))
			goneAdded[c.to], goneDeleted[c.from] = true, true
		}
	}
	d.drop(goneAdded, goneDeleted)
	return pairs, nil
}
