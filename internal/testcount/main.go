// Command testcount reads `go test -json` and prints what failed, then one
// line with how many tests passed, failed and were skipped. It fails when one
// failed, when a package did not build, or when none ran.
//
//	go test -json ./... | go run ./internal/testcount
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

type event struct {
	Action, Package, Test, Output string
	ImportPath                    string
}

func main() {
	output := map[string]*strings.Builder{}
	passed, failed, skipped := 0, 0, 0
	broken := false
	scan := bufio.NewScanner(os.Stdin)
	scan.Buffer(nil, 1<<24)
	for scan.Scan() {
		var e event
		if json.Unmarshal(scan.Bytes(), &e) != nil {
			fmt.Println(scan.Text())
			continue
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "output":
			b := output[key]
			if b == nil {
				b = &strings.Builder{}
				output[key] = b
			}
			b.WriteString(e.Output)
		case "build-output":
			fmt.Print(e.Output)
		case "build-fail":
			broken = true
		case "pass", "skip", "fail":
			done(e, output[key], &passed, &failed, &skipped, &broken)
			delete(output, key)
		}
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 || broken || passed == 0 {
		os.Exit(1)
	}
}

func done(e event, out *strings.Builder, passed, failed, skipped *int, broken *bool) {
	text := ""
	if out != nil {
		text = out.String()
	}
	if e.Test == "" {
		if e.Action == "fail" {
			*broken = true
			fmt.Printf("FAIL %s\n%s", e.Package, text)
		} else if e.Action == "pass" {
			fmt.Printf("ok   %s\n", e.Package)
		}
		return
	}
	switch e.Action {
	case "pass":
		*passed++
	case "fail":
		*failed++
		fmt.Printf("FAIL %s %s\n%s", e.Package, e.Test, text)
	case "skip":
		*skipped++
		fmt.Printf("skip %s %s\n%s", e.Package, e.Test, text)
	}
}
