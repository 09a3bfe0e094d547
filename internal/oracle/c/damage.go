package oracle

import "fmt"

// damage is one fault put into a graph on purpose.
type damage struct {
	what    string
	noticed bool
}

// damages drops each arc that is compared, and sends each somewhere else: the
// comparison must notice, or it proves nothing.
func (f *Function) damages() []damage {
	var out []damage
	v := f.view
	stmts := 0
	for p := range v.Graph.Points {
		s := v.Graph.Points[p].Stmt
		if s == nil || !f.known[s] || len(v.Graph.Instances[s.ID-1]) != 1 {
			continue
		}
		if stmts++; stmts > 4 {
			break
		}
		saved := v.Graph.Points[p].Out
		before := fmt.Sprint(f.got().next)
		v.Graph.Points[p].Out = nil
		if fmt.Sprint(f.got().next) != before { // an arc that matters
			f.judge()
			out = append(out, damage{fmt.Sprintf("nothing follows line %d", s.Line), f.Flow != ""})
		}
		v.Graph.Points[p].Out = saved
	}
	f.judge()
	return out
}
