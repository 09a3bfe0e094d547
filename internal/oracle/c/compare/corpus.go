package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	oracle "flowplan/internal/oracle/c"
)

// packages are small sources of Debian whose files mostly compile alone.
var packages = []string{
	// C
	"zlib", "bzip2", "lua5.4", "expat", "cjson", "libyaml", "giflib", "lz4", "json-c", "mbedtls", "libtommath", "libpng1.6", "lzo2",
	"jansson", "libuv1", "duktape", "libtomcrypt", "pcre2", "c-ares",
	// C++
	"tinyxml2", "pugixml", "libjsoncpp", "double-conversion", "snappy", "leveldb", "re2", "yaml-cpp", "googletest", "libcrypto++", "fmtlib",
}

// suite is where the sources come from: one release, so that figures compare.
const suite = `Types: deb-src
URIs: http://deb.debian.org/debian
Suites: bookworm
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
`

// fetch brings the packages' sources into a folder, once.
func fetch(dir string) error {
	parts, lists := filepath.Join(dir, "apt"), filepath.Join(dir, "lists")
	for _, d := range []string{parts, filepath.Join(lists, "partial")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(parts, "src.sources"), []byte(suite), 0o644); err != nil {
		return err
	}
	apt := func(args ...string) error {
		options := []string{"-qq", "-o", "Dir::Etc::sourcelist=" + os.DevNull, "-o", "Dir::Etc::sourceparts=" + parts, "-o", "Dir::State::lists=" + lists, "-o", "APT::Sandbox::User=root"}
		cmd := exec.Command("apt-get", append(options, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
		}
		return nil
	}
	updated := false
	for _, p := range packages {
		to := filepath.Join(dir, p)
		if _, err := os.Stat(to); err == nil {
			continue
		}
		if !updated {
			if err := apt("update"); err != nil {
				return err
			}
			updated = true
		}
		if err := apt("source", "--download-only", p); err != nil {
			return err
		}
		tars, err := filepath.Glob(filepath.Join(dir, "*.orig.tar.*"))
		if err != nil {
			return err
		}
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		for _, t := range tars {
			if !strings.HasSuffix(t, ".asc") {
				if out, err := exec.Command("tar", "xf", t, "-C", to).CombinedOutput(); err != nil {
					return fmt.Errorf("tar xf %s: %w: %s", t, err, out)
				}
			}
			if err := os.Remove(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// corpus lists what to compile: the packages' files, and tree-sitter's in the
// module cache.
func corpus(dir string) ([]oracle.Unit, error) {
	if err := fetch(dir); err != nil {
		return nil, err
	}
	var out []oracle.Unit
	for _, p := range packages {
		out = append(out, sources(filepath.Join(dir, p))...)
	}
	mod, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/smacker/go-tree-sitter").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	tree := strings.TrimSpace(string(mod))
	for _, pattern := range []string{"*.c", "*/scanner.c", "*/scanner.cc"} {
		files, err := filepath.Glob(filepath.Join(tree, pattern))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			out = append(out, oracle.Unit{Path: f})
		}
	}
	return out, nil
}

// sources are the files of a package, with every folder that has headers on the
// include path.
func sources(root string) []oracle.Unit {
	var files []string
	headers := map[string]bool{}
	_ = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // what cannot be listed is passed over
		}
		switch filepath.Ext(p) {
		case ".c", ".cc", ".cpp", ".cxx":
			files = append(files, p)
		case ".h", ".hpp":
			headers[filepath.Dir(p)] = true
			headers[filepath.Dir(filepath.Dir(p))] = true
		}
		return nil
	})
	var dirs []string
	_ = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && headers[p] && len(dirs) < 40 {
			dirs = append(dirs, "-I"+p)
		}
		return nil
	})
	var out []oracle.Unit
	for _, f := range files {
		out = append(out, oracle.Unit{Path: f, Flags: append([]string{"-D_GNU_SOURCE"}, dirs...)})
	}
	return out
}
