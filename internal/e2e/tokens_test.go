//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"flowplan/internal/loopback"
)

// parts are the tokens of one request by what they are for.
type parts map[string]int

func columns() []string {
	return []string{"system", "own tools", "reminders", "flow tools", "issue+skill", "views", "replies", "read+edit", "calls", "total"}
}

// split counts a request's tokens by part.
func split(t *testing.T, r *loopback.Request) parts {
	t.Helper()
	enc, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	p := parts{}
	add := func(part, text string) {
		n, err := enc.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		p[part] += n
		p["total"] += n
	}
	add("system", r.SystemText())
	for _, tool := range r.Tools {
		if strings.HasPrefix(tool.Name, "mcp__flowplan__") {
			add("flow tools", string(tool.Raw))
		} else {
			add("own tools", string(tool.Raw))
		}
	}
	uses := map[string]string{} // tools by the id of their use
	for _, m := range r.Messages {
		for _, b := range m.Content {
			switch b.Type {
			case "text":
				switch {
				case strings.Contains(b.Text, "<command-name>/flowfix") || strings.Contains(b.Text, "Base directory for this skill"):
					add("issue+skill", b.Text)
				case m.Role == "assistant":
					add("calls", b.Text)
				default:
					add("reminders", b.Text)
				}
			case "tool_use":
				uses[b.ID] = b.Name
				add("calls", b.Name+string(b.Input))
			case "tool_result":
				switch name := uses[b.ToolUseID]; {
				case name == "mcp__flowplan__flow_of":
					add("views", b.String())
				case strings.HasPrefix(name, "mcp__flowplan__"):
					add("replies", b.String())
				default:
					add("read+edit", b.String())
				}
			}
		}
	}
	return p
}

// printTable prints the tokens of a conversation, per call and in total.
func printTable(t *testing.T, title string, requests []*loopback.Request) parts {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s, o200k_base tokens\n%-6s", title, "call")
	for _, c := range columns() {
		fmt.Fprintf(&b, " %11s", c)
	}
	sum := parts{}
	row := func(name string, p parts) {
		fmt.Fprintf(&b, "\n%-6s", name)
		for _, c := range columns() {
			fmt.Fprintf(&b, " %11d", p[c])
		}
	}
	for i, r := range requests {
		p := split(t, r)
		row(fmt.Sprint(i+1), p)
		for k, v := range p {
			sum[k] += v
		}
	}
	row("all", sum)
	fmt.Println(b.String())
	return sum
}
