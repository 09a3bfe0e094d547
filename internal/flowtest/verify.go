package flowtest

import (
	"flowplan/internal/cfg"
	"flowplan/internal/dataflow"
	"flowplan/internal/flow"
	"flowplan/internal/ir"
)

// Verify checks all representations of every function of a file.
func Verify(file *flow.File) []error {
	var errs []error
	for i := range file.Decls {
		v := file.View(i)
		errs = append(errs, ir.Verify(v.Func)...)
		errs = append(errs, cfg.Verify(v.Graph)...)
		errs = append(errs, dataflow.Verify(v.Chains)...)
	}
	return errs
}
