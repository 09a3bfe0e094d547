// Package internal holds no code: its test enforces which package may import
// which.
package internal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// row says what a package may import besides the standard library: packages
// under internal/, and others by prefix of their path.
type row struct {
	internal   []string
	thirdParty []string
	why        string
}

// table has a row for each package. Tests may import more: their fixtures come
// from anywhere.
var table = map[string]row{
	"source":        {nil, nil, "bytes are the bottom of everything"},
	"ir":            {[]string{"source"}, nil, "language-neutral bodies know spans and nothing of syntax"},
	"syntax":        {[]string{"source"}, []string{"github.com/smacker/go-tree-sitter"}, "the only importer of the tree-sitter runtime"},
	"cfg":           {[]string{"ir", "lang"}, nil, "control flow is built once, for every language"},
	"dataflow":      {[]string{"cfg", "ir"}, nil, "reaching definitions over the graph"},
	"flow":          {[]string{"cfg", "dataflow", "ir", "lang", "source"}, nil, "puts the stages together"},
	"delta":         {[]string{"cfg", "dataflow", "flow", "ir"}, nil, "Diff and nothing else"},
	"hazard":        {[]string{"cfg", "delta", "flow", "ir", "lang"}, nil, "compares two views"},
	"plan":          {[]string{"delta", "ir"}, nil, "judges what Diff observed; finds nothing in files"},
	"engine":        {[]string{"delta", "flow", "gitrepo", "hazard", "index", "ir", "lang", "ledger", "locate", "plan", "rootfs", "source", "store"}, nil, "the calls as ordinary functions"},
	"mcpserver":     {[]string{"engine"}, []string{"github.com/modelcontextprotocol/go-sdk", "github.com/google/jsonschema-go"}, "the only importer of the SDK"},
	"cli":           {[]string{"doctor", "engine", "flow", "gitrepo", "lang", "lang/all", "ledger", "mcpserver", "plan", "rootfs", "setup", "source", "store"}, []string{"github.com/spf13/cobra", "github.com/schollz/progressbar/v3", "golang.org/x/term", "flowplan/skills"}, "the only importer of cobra"},
	"lang/python":   {[]string{"ir", "lang", "source", "syntax"}, []string{"github.com/smacker/go-tree-sitter/python"}, "a language is one folder"},
	"lang/c":        {[]string{"ir", "lang", "source", "syntax"}, nil, "the core of the C family; syntax for its limits alone"},
	"lang/cpp":      {[]string{"ir", "lang", "lang/c", "source"}, nil, "C++ on the same core"},
	"lang/all":      {[]string{"lang", "lang/c", "lang/cpp", "lang/python"}, nil, "the generated list of languages"},
	"lang/generate": {nil, nil, "writes that list"},
	"flowtest":      {[]string{"cfg", "dataflow", "delta", "flow", "ir", "lang", "source"}, []string{"github.com/google/go-cmp", "github.com/rogpeppe/go-internal"}, "test-only: the fixture runner"},
	"loopback":      {nil, nil, "a scripted model; knows the API's form and nothing of flowplan"},
	"setup":         {[]string{"loopback"}, []string{"github.com/modelcontextprotocol/go-sdk", "github.com/pelletier/go-toml/v2", "github.com/tailscale/hujson"}, "clients' files; the SDK to try a registered server"},
	"doctor":        {[]string{"engine", "setup", "store"}, nil, "what is wrong; asks the others"},
	"plugin":        {[]string{"cli"}, []string{"flowplan/skills"}, "make generate: the Claude Code plugin"},
	"e2e":           {nil, nil, "test-only: the real client"},
	"demo":          {nil, []string{"github.com/modelcontextprotocol/go-sdk"}, "make demo: a client like any other"},
	"bench":         {[]string{"engine", "lang", "lang/all", "ledger", "store", "syntax"}, []string{"github.com/smacker/go-tree-sitter/python"}, "make bench: ratios side by side"},
	"replay":        {[]string{"delta", "lang", "lang/all", "plan"}, []string{"github.com/modelcontextprotocol/go-sdk"}, "real fixes over MCP: a client like any other, that asks the languages which files are code"},
	"testcount":     {nil, nil, "counts what go test ran"},
	"lang":          {[]string{"ir", "source", "syntax"}, nil, "describes languages, names none, never sees cfg"},
	"rootfs":        {nil, nil, "the one way to read files below a root"},
	"gitrepo":       {[]string{"rootfs"}, nil, "the only place that runs git"},
	"store":         {nil, []string{"modernc.org/sqlite", "golang.org/x/sys"}, "the only importer of SQLite"},
	"index":         {[]string{"lang", "rootfs", "source", "store", "syntax"}, []string{"github.com/sabhiram/go-gitignore"}, "outlines into the store; file lists are handed in, so no git"},
	"locate":        {[]string{"index", "lang", "rootfs", "source", "store"}, nil, "from names to functions, over the index"},
	"ledger":        {[]string{"store"}, []string{"golang.org/x/sys"}, "records; knows neither deltas nor git; x/sys for flock"},

	"oracle/c":          {[]string{"cfg", "dataflow", "flow", "ir", "lang", "source"}, nil, "gcc's graphs beside flowplan's"},
	"oracle/c/compare":  {[]string{"lang", "lang/all", "oracle/c"}, nil, "its command"},
	"oracle/c/plaints":  {[]string{"source", "syntax"}, []string{"github.com/smacker/go-tree-sitter/c", "github.com/smacker/go-tree-sitter/cpp"}, "what the plain grammars make of C and C++, to be compared with"},
	"flowtest/minilang": {[]string{"ir", "lang", "source", "syntax"}, []string{"github.com/smacker/go-tree-sitter/python"}, "test-only"},
}

// testOnly packages may be imported by tests alone.
var testOnly = []string{"flowtest"}

const module = "flowplan/internal/"

type goPackage struct {
	ImportPath string
	GoFiles    []string
	CgoFiles   []string
	Imports    []string
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,GoFiles,CgoFiles,Imports", "./...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var all []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles)+len(p.CgoFiles) > 0 && strings.HasPrefix(p.ImportPath, module) {
			all = append(all, p)
		}
	}
}

func TestImports(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		seen[name] = true
		r, ok := table[name]
		if !ok {
			t.Errorf("%s is not in the table of arch_test.go: add a row that says what it may import and why", name)
			continue
		}
		for _, imp := range p.Imports {
			if inner, ok := strings.CutPrefix(imp, module); ok {
				if !slices.Contains(r.internal, inner) {
					t.Errorf("%s imports %s, which its row does not allow (%s)", name, inner, r.why)
				}
				top, _, _ := strings.Cut(inner, "/")
				own, _, _ := strings.Cut(name, "/")
				if slices.Contains(testOnly, top) && own != top {
					t.Errorf("%s imports %s outside a test", name, inner)
				}
				continue
			}
			first, _, _ := strings.Cut(imp, "/")
			if !strings.Contains(first, ".") { // standard library
				continue
			}
			if !slices.ContainsFunc(r.thirdParty, func(prefix string) bool { return imp == prefix || strings.HasPrefix(imp, prefix+"/") }) {
				t.Errorf("%s imports %s, which its row does not allow (%s)", name, imp, r.why)
			}
		}
	}
	for name := range table {
		if !seen[name] {
			t.Errorf("%s has a row and does not exist: take the row away", name)
		}
	}
}
