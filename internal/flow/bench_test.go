package flow_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"flowplan/internal/flow"
	"flowplan/internal/lang/python"
	"flowplan/internal/source"
)

// BenchmarkGraph takes every 40th file of the standard library from text to
// JSON.
func BenchmarkGraph(b *testing.B) {
	out, err := exec.Command("python3", "-c", "import sysconfig; print(sysconfig.get_paths()['stdlib'])").Output()
	if err != nil {
		b.Fatal(err)
	}
	var paths []string
	filepath.WalkDir(strings.TrimSpace(string(out)), func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".py") && !strings.Contains(path, "site-packages") {
			paths = append(paths, path)
		}
		return nil
	})
	sort.Strings(paths)
	var texts [][]byte
	size := 0
	for i := 0; i < len(paths); i += 40 {
		if data, err := os.ReadFile(paths[i]); err == nil {
			texts = append(texts, data)
			size += len(data)
		}
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		for _, data := range texts {
			f, err := flow.Parse(context.Background(), python.Language, source.New("x.py", data), nil)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := json.Marshal(f.JSON(nil)); err != nil {
				b.Fatal(err)
			}
		}
	}
}
