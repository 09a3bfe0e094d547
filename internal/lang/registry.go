package lang

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// HeadBytes is how much of a file's beginning Detect is given.
const HeadBytes = 4096

// Registry finds the language of a file among those it was made of. It is
// safe for use by several goroutines.
type Registry struct {
	all         []*Language
	byExtension map[string][]*Language
	byFilename  map[string][]*Language
	detectors   []*Language // those with a Detect: asked about files without an extension
}

// NewRegistry makes a registry of valid languages; see Validate.
func NewRegistry(langs ...*Language) (*Registry, error) {
	r := &Registry{byExtension: map[string][]*Language{}, byFilename: map[string][]*Language{}}
	names := map[string]bool{}
	for _, l := range langs {
		if err := l.Validate(); err != nil {
			return nil, err
		}
		if names[l.Name] {
			return nil, fmt.Errorf("language %s: is in the list twice", l.Name)
		}
		names[l.Name] = true
		r.all = append(r.all, l)
		for _, e := range l.Extensions {
			r.byExtension[e] = append(r.byExtension[e], l)
		}
		for _, f := range l.Filenames {
			r.byFilename[f] = append(r.byFilename[f], l)
		}
		if l.Detect != nil {
			r.detectors = append(r.detectors, l)
		}
	}
	for e, list := range r.byExtension {
		for _, l := range list {
			if len(list) > 1 && l.Detect == nil {
				return nil, fmt.Errorf("language %s: shares %s with another and has no Detect to tell them apart", l.Name, e)
			}
		}
	}
	return r, nil
}

var languageName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// Validate reports what a Language lacks to be usable.
func (l *Language) Validate() error {
	if l == nil {
		return errors.New("language: is nil")
	}
	if !languageName.MatchString(l.Name) {
		return fmt.Errorf("language %q: expected a name in lower case", l.Name)
	}
	var missing []string
	for name, ok := range map[string]bool{
		"Parse":     l.Parse != nil,
		"Separator": l.Separator != "", "Extensions or Filenames": len(l.Extensions)+len(l.Filenames) > 0,
	} {
		if !ok {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("language %s: lacks %s", l.Name, strings.Join(missing, ", "))
	}
	for _, e := range l.Extensions {
		if !strings.HasPrefix(e, ".") || e != strings.ToLower(e) {
			return fmt.Errorf("language %s: expected an extension like .py in lower case, got %q", l.Name, e)
		}
	}
	return nil
}

// All lists the languages in the order given.
func (r *Registry) All() []*Language { return r.all }

// Named is the language of that name, or nil.
func (r *Registry) Named(name string) *Language {
	for _, l := range r.all {
		if l.Name == name {
			return l
		}
	}
	return nil
}

// Candidates lists what the name of a file alone allows. With more than one,
// or for a file without an extension, its head decides: ForPath.
func (r *Registry) Candidates(p string) []*Language {
	base := path.Base(p)
	if list := r.byFilename[base]; len(list) > 0 {
		return list
	}
	ext := path.Ext(base)
	if list := r.byExtension[strings.ToLower(ext)]; len(list) > 0 {
		return list
	}
	if ext == "" || ext == base { // none, or a dot file
		return r.detectors
	}
	return nil
}

// NeedsHead reports whether ForPath looks at the head for that path.
func (r *Registry) NeedsHead(p string) bool {
	list := r.Candidates(p)
	return len(list) > 1 || len(list) == 1 && !r.named(p)
}

func (r *Registry) named(p string) bool {
	base := path.Base(p)
	return len(r.byFilename[base]) > 0 || len(r.byExtension[strings.ToLower(path.Ext(base))]) > 0
}

// ForPath is the language of a file, or nil. head is the beginning of the
// file; it may be nil where NeedsHead says no.
func (r *Registry) ForPath(p string, head []byte) *Language {
	list := r.Candidates(p)
	if len(list) == 1 && r.named(p) {
		return list[0]
	}
	for _, l := range list {
		if l.Detect != nil && l.Detect(p, head) {
			return l
		}
	}
	if len(list) > 0 && r.named(p) { // several, and none is sure: the first
		return list[0]
	}
	return nil
}

// Frames finds the frames of a traceback of any of the languages, innermost
// last: those of the language that finds most.
func (r *Registry) Frames(text string) []Frame {
	var best []Frame
	for _, l := range r.all {
		if l.Frames == nil {
			continue
		}
		if f := l.Frames(text); len(f) > len(best) {
			best = f
		}
	}
	return best
}
