package flow

import ()

// The types below are the graph JSON, field by field.

// FileJSON is one file.
type FileJSON struct {
	File        string         `json:"file"`
	Language    string         `json:"language"`
	ParseErrors []ErrorJSON    `json:"parse_errors"`
	Functions   []FunctionJSON `json:"functions"`
}

// OneJSON is one function with the file that it stands in.
type OneJSON struct {
	File     string       `json:"file"`
	Language string       `json:"language"`
	Function FunctionJSON `json:"function"`
}

// ErrorJSON is a stretch that could not be parsed.
type ErrorJSON struct {
	Line    int `json:"line"`
	EndLine int `json:"end_line"`
}

// FunctionJSON is one function.
type FunctionJSON struct {
	ID            string          `json:"id"`
	Name          string          `json:"name"`
	QualifiedName string          `json:"qualified_name"`
	Kind          string          `json:"kind"`
	Line          int             `json:"line"`
	EndLine       int             `json:"end_line"`
	Params        []string        `json:"params"`
	Captures      []string        `json:"captures"`
	Async         bool            `json:"async"`
	Generator     bool            `json:"generator"`
	Blocks        []BlockJSON     `json:"blocks"`
	Edges         []EdgeJSON      `json:"edges"`
	DefUse        []PairJSON      `json:"def_use"`
	Opaque        []OpaqueJSON    `json:"opaque"`
	Fingerprint   FingerprintJSON `json:"fingerprint"`
}

// BlockJSON is a basic block.
type BlockJSON struct {
	ID         string     `json:"id"`
	Dead       bool       `json:"dead"`
	Statements []StmtJSON `json:"statements"`
}

// StmtJSON is an ordinary statement.
type StmtJSON struct {
	ID       int    `json:"id"`
	Line     int    `json:"line"`
	Col      int    `json:"col"`
	EndLine  int    `json:"end_line"`
	Kind     string `json:"kind"`
	Text     string `json:"text"`
	MayRaise bool   `json:"may_raise"`
}

// EdgeJSON is an edge between blocks or pseudo nodes.
type EdgeJSON struct {
	From       string `json:"from"`
	To         string `json:"to"`
	Role       string `json:"role"`
	Statements []int  `json:"statements,omitempty"`
}

// PairJSON is a def-use pair.
type PairJSON struct {
	Var     string `json:"var"`
	DefKind string `json:"def_kind"`
	DefLine *int   `json:"def_line"`
	UseLine int    `json:"use_line"`
	Def     *int   `json:"def"`
	Use     int    `json:"use"`
	May     bool   `json:"may"`
}

// OpaqueJSON is a statement that could not be read.
type OpaqueJSON struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// FingerprintJSON holds the three hashes of a function.
type FingerprintJSON struct {
	CFG  string `json:"cfg"`
	DFG  string `json:"dfg"`
	Text string `json:"text"`
}

// JSON is the whole file as JSON; keep, if not nil, says which functions.
func (f *File) JSON(keep func(i int) bool) FileJSON {
	out := FileJSON{File: f.Source.Path, Language: f.Lang.Name, ParseErrors: []ErrorJSON{}, Functions: []FunctionJSON{}}
	for _, e := range f.Errors {
		out.ParseErrors = append(out.ParseErrors, ErrorJSON{f.Source.Line(e.Start), f.Source.LastLine(e)})
	}
	for i := range f.Decls {
		if keep == nil || keep(i) {
			out.Functions = append(out.Functions, f.View(i).JSON())
		}
	}
	return out
}

// JSON is the function as JSON.
func (v *View) JSON() FunctionJSON {
	fp := v.Fingerprint()
	out := FunctionJSON{
		ID: v.ID(), Name: v.Func.Name, QualifiedName: v.Func.QualifiedName, Kind: string(v.Func.Kind),
		Line: v.Func.Line, EndLine: v.Func.EndLine, Params: []string{}, Captures: append([]string{}, v.Func.Captures...),
		Async: v.Func.Async, Generator: v.Func.Generator,
		Blocks: []BlockJSON{}, Edges: []EdgeJSON{}, DefUse: []PairJSON{}, Opaque: []OpaqueJSON{},
		Fingerprint: FingerprintJSON{CFG: fp.CFG, DFG: fp.DFG, Text: fp.Text},
	}
	for _, p := range v.Func.Params {
		out.Params = append(out.Params, p.Name)
	}
	for _, b := range v.Graph.Blocks {
		bj := BlockJSON{ID: b.ID, Dead: b.Dead}
		for _, s := range b.Stmts {
			bj.Statements = append(bj.Statements, StmtJSON{s.ID, s.Line, s.Col, s.EndLine, string(s.Kind), s.Text, s.MayRaise()})
			if s.Reason != "" {
				out.Opaque = append(out.Opaque, OpaqueJSON{s.Line, s.Reason})
			}
		}
		out.Blocks = append(out.Blocks, bj)
	}
	for _, e := range v.Graph.Edges {
		ej := EdgeJSON{From: e.From, To: e.To, Role: string(e.Role)}
		for _, s := range e.Raising {
			ej.Statements = append(ej.Statements, s.ID)
		}
		out.Edges = append(out.Edges, ej)
	}
	for _, p := range v.Chains.Pairs {
		pj := PairJSON{Var: v.PlaceName(p.Def.Place), DefKind: string(p.Def.Kind), UseLine: p.Use.Line, Use: p.Use.ID, May: p.Def.May}
		if p.Def.Line > 0 {
			pj.DefLine = &p.Def.Line
		}
		if p.Def.Stmt != nil {
			pj.Def = &p.Def.Stmt.ID
		}
		out.DefUse = append(out.DefUse, pj)
	}
	return out
}
