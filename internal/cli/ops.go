package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"flowplan/internal/plan"
)

func newOps() *cobra.Command {
	return &cobra.Command{
		Use:   "ops",
		Short: "Prints the operations of a plan, what they mean and what is accepted for them",
		Args:  wrongUsage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			printOps(cmd.OutOrStdout())
			return nil
		},
	}
}

func printOps(w io.Writer) {
	fmt.Fprint(w, opsIntro)
	for _, o := range plan.Operations() {
		fmt.Fprintf(w, "\n%s\n  %s\n", o.Kind, o.Meaning)
		var accepts []string
		for _, a := range o.Accepts {
			text := string(a.Kind)
			if a.Note != "" {
				text += " " + a.Note
			}
			accepts = append(accepts, text)
		}
		if len(accepts) > 0 {
			fmt.Fprintf(w, "  same_family in the region: %s\n", strings.Join(accepts, "; "))
		}
	}
}

const opsIntro = `A planned delta is {function, op, line?, condition?}: the operation below that
names the change, at a line of the code as it stands before the edit.

line       any line of the statement meant; for a new statement the one it goes
           before (or after, at the end of an arm); any condition of an
           if/elif/else for its arms; the def line for the signature
condition  the new condition, for a removal the one that goes; compared up to
           negation, operand order and parentheses; leave it out if not sure
exact      the operation, in its region, with an equivalent condition or none;
           add_guard and add_branch stand for each other, and remove_guard and
           remove_branch, and change_block and no_flow_change
A construct that is wholly new or gone is one operation; what stands in it may
be planned too but need not. Expressions (ternaries, and/or, comprehensions) are
never structure: a change in one is change_block. Asserts are plain statements.
Code outside functions is path.py:<module> or path.py:<class C>; it need not be
planned, and nor must new functions.
`
