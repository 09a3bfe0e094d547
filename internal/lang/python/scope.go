package python

type scopeKind uint8

const (
	scopeModule scopeKind = iota
	scopeClass
	scopeFunc
	scopeLambda
	scopeComp
	scopeType // type parameters of a def, class or type statement
)

// scope is what CPython's symtable knows of one block.
type scope struct {
	kind     scopeKind
	parent   *scope
	kids     []*scope
	bound    map[string]bool
	imported map[string]bool // bound, and by nothing but imports
	global   map[string]bool
	nonlocal map[string]bool
	stored   map[string]bool // assigned here, wherever it lives
	uses     []string        // names in order of first mention
	used     map[string]bool
	yields   bool
}

func newScope(kind scopeKind, parent *scope) *scope {
	s := &scope{kind: kind, parent: parent, bound: map[string]bool{}, imported: map[string]bool{}, global: map[string]bool{},
		nonlocal: map[string]bool{}, stored: map[string]bool{}, used: map[string]bool{}}
	if parent != nil {
		parent.kids = append(parent.kids, s)
	}
	return s
}

// lookup is the scope in which a name mentioned in s lives; nil for a global.
func (s *scope) lookup(name string) *scope {
	direct := true // a class is seen from its own body and from type parameters in it
	for at := s; at != nil; at = at.parent {
		if at.kind == scopeClass && !direct {
			continue
		}
		direct = direct && at.kind == scopeType
		if at.global[name] {
			return nil
		}
		if at.nonlocal[name] {
			continue
		}
		if at.bound[name] {
			if at.kind == scopeModule {
				return nil
			}
			return at
		}
	}
	return nil
}

// within reports whether s is o or lies inside it.
func (s *scope) within(o *scope) bool {
	for at := s; at != nil; at = at.parent {
		if at == o {
			return true
		}
	}
	return false
}

// free lists the names that s or something in it takes from a function around
// s, in order of mention.
func (s *scope) free() []string {
	var out []string
	seen := map[string]bool{}
	var walk func(*scope)
	walk = func(at *scope) {
		for _, name := range at.uses {
			if o := at.lookup(name); o != nil && !seen[name] && o != s && s.within(o) {
				seen[name] = true
				out = append(out, name)
			}
		}
		for _, k := range at.kids {
			walk(k)
		}
	}
	walk(s)
	return out
}

// rebinds lists the names of functions around s that s or something in it
// assigns.
func (s *scope) rebinds() []string {
	var out []string
	seen := map[string]bool{}
	var walk func(*scope)
	walk = func(at *scope) {
		for _, name := range at.uses {
			if at.stored[name] && !seen[name] {
				if o := at.lookup(name); o != nil && o != s && s.within(o) {
					seen[name] = true
					out = append(out, name)
				}
			}
		}
		for _, k := range at.kids {
			walk(k)
		}
	}
	walk(s)
	return out
}

// scopes holds the scope of each statement and expression that has one.
type scopes struct {
	stmts map[*stmt]*scope
	exprs map[*expr]*scope
	types map[*stmt]*scope
}

func newScopes() *scopes {
	return &scopes{stmts: map[*stmt]*scope{}, exprs: map[*expr]*scope{}, types: map[*stmt]*scope{}}
}

func (s *scope) use(name string) {
	if !s.used[name] {
		s.used[name] = true
		s.uses = append(s.uses, name)
	}
}

func (s *scope) bind(name string, byImport bool) {
	s.use(name)
	s.stored[name] = true
	if s.global[name] || s.nonlocal[name] {
		return
	}
	if byImport && (!s.bound[name] || s.imported[name]) {
		s.imported[name] = true
	} else {
		delete(s.imported, name)
	}
	s.bound[name] = true
}

// declare finds the global and nonlocal statements of a block first: they hold
// for all of it.
func (s *scope) declare(body []*stmt) {
	for _, st := range body {
		switch st.kind {
		case sGlobal:
			for _, a := range st.names {
				s.global[a.name] = true
			}
		case sNonlocal:
			for _, a := range st.names {
				s.nonlocal[a.name] = true
			}
		case sDef, sClass:
			continue
		}
		s.declare(st.body)
		s.declare(st.orelse)
		s.declare(st.final)
		for _, a := range st.arms {
			s.declare(a.body)
		}
	}
}

func (t *scopes) block(s *scope, body []*stmt) {
	for _, st := range body {
		t.stmt(s, st)
	}
}

func (t *scopes) stmt(s *scope, st *stmt) {
	switch st.kind {
	case sDef, sClass:
		t.definition(s, st)
		return
	case sType:
		ts := t.typeScope(s, st)
		t.expr(ts, st.value)
		s.bind(st.name, false)
		return
	case sImport, sFrom:
		for _, a := range st.names {
			if name := bindsAs(st, a); name != "" {
				s.bind(name, true)
			}
		}
		return
	case sGlobal, sNonlocal:
		for _, a := range st.names {
			s.use(a.name)
		}
		return
	}
	t.expr(s, st.value)
	for _, e := range st.args {
		t.expr(s, e)
	}
	for _, it := range st.items {
		t.expr(s, it.value)
		t.target(s, it.target)
	}
	for _, e := range st.targets {
		if st.kind == sAnn && st.value == nil && e.kind == eName && e.paren {
			t.expr(s, e)
			continue
		}
		t.target(s, e) // x: int alone makes x local, too
	}
	t.expr(s, st.extra)
	t.block(s, st.body)
	for _, a := range st.arms {
		if st.kind == sMatch {
			t.expr(s, a.test)
			t.expr(s, a.guard)
		} else {
			t.expr(s, a.test)
			t.target(s, a.name)
		}
		t.block(s, a.body)
	}
	t.block(s, st.orelse)
	t.block(s, st.final)
}

// bindsAs is the name that one item of an import defines.
func bindsAs(st *stmt, a alias) string {
	if a.as != "" {
		return a.as
	}
	if a.name == "*" {
		return ""
	}
	if st.kind == sImport {
		for i := range a.name {
			if a.name[i] == '.' {
				return a.name[:i]
			}
		}
	}
	return a.name
}

func (t *scopes) typeScope(s *scope, st *stmt) *scope {
	if len(st.tparams) == 0 {
		return s
	}
	ts := newScope(scopeType, s)
	t.types[st] = ts
	for _, a := range st.tparams {
		ts.bind(a.name, false)
	}
	for _, a := range st.tparams {
		t.expr(ts, a.ann)
		t.expr(ts, a.def)
	}
	return ts
}

func (t *scopes) definition(s *scope, st *stmt) {
	for _, d := range st.decos {
		t.expr(s, d)
	}
	ts := t.typeScope(s, st)
	for _, e := range st.args {
		t.expr(ts, e)
	}
	for _, a := range st.params {
		t.expr(s, a.def)
		t.expr(ts, a.ann)
	}
	t.expr(ts, st.extra)
	t.inner(ts, st)
	s.bind(st.name, false)
}

// inner makes the scope of a def's or class's own body.
func (t *scopes) inner(s *scope, st *stmt) *scope {
	kind := scopeFunc
	if st.kind == sClass {
		kind = scopeClass
	}
	in := newScope(kind, s)
	t.stmts[st] = in
	in.declare(st.body)
	t.params(in, st.params)
	t.block(in, st.body)
	return in
}

func (t *scopes) params(in *scope, ps []*param) {
	for _, a := range ps {
		if a.sep != "" {
			continue
		}
		if a.pattern != nil {
			t.target(in, a.pattern)
			continue
		}
		in.bind(a.name, false)
	}
}

// target marks the names that a target binds and reads what it mentions else.
func (t *scopes) target(s *scope, e *expr) {
	if e == nil {
		return
	}
	switch e.kind {
	case eName:
		s.bind(e.val, false)
	case eTuple, eList, eStar:
		for _, k := range e.kids {
			t.target(s, k)
		}
	default:
		t.expr(s, e)
	}
}

func (t *scopes) expr(s *scope, e *expr) {
	if e == nil {
		return
	}
	switch e.kind {
	case eName:
		s.use(e.val)
		return
	case eLambda:
		for _, a := range e.params {
			t.expr(s, a.def)
		}
		in := newScope(scopeLambda, s)
		t.exprs[e] = in
		t.params(in, e.params)
		t.expr(in, e.kids[0])
		return
	case eComp:
		t.comp(s, e)
		return
	case eWalrus:
		t.expr(s, e.kids[1])
		at := s
		for at.kind == scopeComp && at.parent != nil {
			at = at.parent
		}
		at.bind(e.kids[0].val, false)
		s.use(e.kids[0].val)
		return
	case eYield, eYieldFrom:
		s.yields = true
	case pCapture, pStar, pMap, pAs:
		if e.val != "" && e.val != "_" {
			s.bind(e.val, false)
		}
	}
	for _, k := range e.kids {
		t.expr(s, k)
	}
}

func (t *scopes) comp(s *scope, e *expr) {
	t.expr(s, e.clauses[0].iter)
	in := newScope(scopeComp, s)
	t.exprs[e] = in
	for i, c := range e.clauses {
		if i > 0 {
			t.expr(in, c.iter)
		}
		t.target(in, c.target)
		for _, k := range c.ifs {
			t.expr(in, k)
		}
	}
	for _, k := range e.kids {
		t.expr(in, k)
	}
}
