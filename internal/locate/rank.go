package locate

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"flowplan/internal/store"
)

// maxFile is the largest file that is parsed for a line of it.
const maxFile = 16 << 20

var rootError = errors.New("not needed for an outline")

func itoa(n int) string { return strconv.Itoa(n) }

// candidate is a Match and how well it fits: the smaller the better.
type candidate struct {
	Match
	fit int
}

const (
	fitExact  = iota // the qualified name in full, with or without its module
	fitSuffix        // the end of it
	fitWithin        // the last part, and the others somewhere before it
	fitFolded = 10   // added: only in another case
)

// class orders candidates up to chance: two of one class are equally good.
func (c candidate) class() int {
	n := c.fit * 4
	if c.Test {
		n += 1
	}
	if c.Vendored {
		n += 2
	}
	return n
}

func order(a, b candidate) int {
	return cmp.Or(cmp.Compare(a.class(), b.class()), strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Ordinal, b.Ordinal))
}

// rank keeps the symbols that fit a name, best first. Worse kinds of fit are
// left out where there is a better one, except the end of a name beside the
// whole.
func (l *Locator) rank(symbols []store.Symbol, n name) []candidate {
	var out []candidate
	for _, s := range symbols {
		if n.ordinal != 0 && s.Ordinal != n.ordinal || n.body && s.Kind != "class" {
			continue
		}
		if fit, ok := fits(s, n.parts); ok {
			out = append(out, candidate{match(s), fit})
		}
	}
	slices.SortStableFunc(out, order)
	if len(out) == 0 {
		return nil
	}
	worst := fitSuffix
	if best := bestFit(out); best > fitSuffix {
		worst = best
	}
	return slices.DeleteFunc(out, func(c candidate) bool { return c.fit > worst })
}

func bestFit(all []candidate) int {
	best := all[0].fit
	for _, c := range all {
		best = min(best, c.fit)
	}
	return best
}

func fits(s store.Symbol, want []string) (int, bool) {
	qualified, _ := split(s.QualifiedName)
	all := append(slices.Clone(modulePath(s.Path)), qualified...)
	if fit, ok := fitsParts(all, len(qualified), want); ok {
		return fit, true
	}
	fit, ok := fitsParts(lower(all), len(qualified), lower(want))
	return fit + fitFolded, ok
}

func fitsParts(all []string, qualified int, want []string) (int, bool) {
	switch {
	case len(want) == 0:
		return 0, false
	case hasSuffix(all, want) && len(want) >= qualified:
		return fitExact, true
	case hasSuffix(all, want):
		return fitSuffix, true
	case all[len(all)-1] != want[len(want)-1]:
		return 0, false
	}
	i := 0 // the others in order, with gaps: mod.method of a class in mod
	for _, p := range all {
		if i < len(want) && p == want[i] {
			i++
		}
	}
	return fitWithin, i == len(want)
}

func lower(parts []string) []string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = strings.ToLower(p)
	}
	return out
}

var vendorDirs = map[string]bool{
	"vendor": true, "vendored": true, "_vendor": true, "third_party": true, "thirdparty": true, "3rdparty": true,
	"node_modules": true, "site-packages": true, "dist-packages": true, "venv": true, ".venv": true, "bower_components": true,
}

func vendored(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if vendorDirs[strings.ToLower(part)] {
			return true
		}
	}
	return false
}
