// Package skills holds the agent skills that the binary carries: one source
// for both views.
//
//	text, err := skills.Flowfix(false)   // SKILL.md for a server whose default view is cfg
package skills

import (
	_ "embed"
	"strings"
	"text/template"
)

//go:embed flowfix/SKILL.md
var flowfix string

// Flowfix is the text of /flowfix for the control-flow or the data-flow view.
func Flowfix(dfg bool) (string, error) {
	t, err := template.New("flowfix").Delims("<<", ">>").Parse(flowfix)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, map[string]bool{"DFG": dfg}); err != nil {
		return "", err
	}
	return b.String(), nil
}
