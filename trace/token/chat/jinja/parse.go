package jinja

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Limits of a source: no model's template comes near them.
const (
	maxSource = 1 << 20
	maxNest   = 200
	maxChain  = 4000 // operators in a row
)

// Template is a parsed template. Any number of goroutines may render it.
type Template struct{ body []node }

// Parse parses a source. Its error is a *SyntaxError.
func Parse(src string) (t *Template, err error) {
	if len(src) > maxSource {
		return nil, &SyntaxError{1, fmt.Sprintf("the template has %d bytes, more than %d", len(src), maxSource)}
	}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *SyntaxError:
			t, err = nil, e
		default:
			panic(e)
		}
	}()
	p := &parser{toks: lex(strings.ToValidUTF8(src, "\uFFFD"))}
	body := p.body()
	if p.cur().kind != tokEOF {
		p.fail("unexpected {%% %s %%}", p.cur().text)
	}
	return &Template{body: body}, nil
}

// parser is one recursive descent over the tokens, in the order of precedence
// of jinja2.parser.
type parser struct {
	toks  []lexeme
	at    int
	depth int
	loops int
}

func (p *parser) cur() lexeme { return p.toks[p.at] }

func (p *parser) peek() lexeme { return p.toks[min(p.at+1, len(p.toks)-1)] }

func (p *parser) next() lexeme {
	t := p.toks[p.at]
	if p.at < len(p.toks)-1 {
		p.at++
	}
	return t
}

func (p *parser) fail(format string, args ...any) {
	panic(&SyntaxError{Line: p.cur().line, What: fmt.Sprintf(format, args...)})
}

func (p *parser) skipOp(op string) bool {
	if p.cur().isOp(op) {
		p.next()
		return true
	}
	return false
}

func (p *parser) skipName(name string) bool {
	if p.cur().isName(name) {
		p.next()
		return true
	}
	return false
}

func (p *parser) wantOp(op string) {
	if !p.skipOp(op) {
		p.fail("expected %q", op)
	}
}

func (p *parser) wantName(name string) {
	if !p.skipName(name) {
		p.fail("expected %q", name)
	}
}

func (p *parser) ident() string {
	if p.cur().kind != tokName {
		p.fail("expected a name")
	}
	return p.next().text
}

// nest bounds the recursion; the caller defers its result.
func (p *parser) nest() func() {
	if p.depth++; p.depth > maxNest {
		p.fail("nested more than %d deep", maxNest)
	}
	return func() { p.depth-- }
}

func (p *parser) chain(n *int) {
	if *n++; *n > maxChain {
		p.fail("more than %d operators in a row", maxChain)
	}
}

// expression is a conditional expression.
func (p *parser) expression() expr {
	defer p.nest()()
	x := p.or()
	for n := 0; p.skipName("if"); {
		p.chain(&n)
		c := &condExpr{test: p.or(), yes: x}
		if p.skipName("else") {
			c.no = p.expression()
		}
		x = c
	}
	return x
}

func (p *parser) or() expr {
	x := p.and()
	for n := 0; p.skipName("or"); {
		p.chain(&n)
		x = &orExpr{x, p.and()}
	}
	return x
}

func (p *parser) and() expr {
	x := p.not()
	for n := 0; p.skipName("and"); {
		p.chain(&n)
		x = &andExpr{x, p.not()}
	}
	return x
}

func (p *parser) not() expr {
	if p.cur().isName("not") {
		defer p.nest()()
		p.next()
		return &notExpr{p.not()}
	}
	return p.compare()
}

func (p *parser) compare() expr {
	c := &compareExpr{first: p.sum()}
	for {
		t, op := p.cur(), ""
		switch {
		case t.kind == tokOp && (t.text == "==" || t.text == "!=" || t.text == "<" || t.text == "<=" || t.text == ">" || t.text == ">="):
			op = p.next().text
		case p.skipName("in"):
			op = "in"
		case t.isName("not") && p.peek().isName("in"):
			p.next()
			p.next()
			op = "not in"
		}
		if op == "" {
			break
		}
		c.ops = append(c.ops, op)
		c.rest = append(c.rest, p.sum())
	}
	if len(c.ops) == 0 {
		return c.first
	}
	return c
}

func (p *parser) sum() expr {
	x := p.concat()
	for n := 0; p.cur().isOp("+") || p.cur().isOp("-"); {
		p.chain(&n)
		x = &binExpr{p.next().text, x, p.concat()}
	}
	return x
}

func (p *parser) concat() expr {
	parts := []expr{p.product()}
	for p.skipOp("~") {
		parts = append(parts, p.product())
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return &concatExpr{parts}
}

func (p *parser) product() expr {
	x := p.power()
	for n := 0; p.cur().isOp("*") || p.cur().isOp("/") || p.cur().isOp("//") || p.cur().isOp("%"); {
		p.chain(&n)
		x = &binExpr{p.next().text, x, p.power()}
	}
	return x
}

func (p *parser) power() expr {
	x := p.unary(true)
	for n := 0; p.cur().isOp("**"); {
		p.chain(&n)
		x = &binExpr{p.next().text, x, p.unary(true)}
	}
	return x
}

func (p *parser) unary(filters bool) expr {
	defer p.nest()()
	var x expr
	switch {
	case p.skipOp("-"):
		x = &signExpr{p.unary(false), true}
	case p.skipOp("+"):
		x = &signExpr{p.unary(false), false}
	default:
		x = p.primary()
	}
	x = p.postfix(x)
	if filters {
		x = p.filters(x)
	}
	return x
}

func (p *parser) primary() expr {
	switch t := p.cur(); {
	case t.kind == tokName:
		p.next()
		switch t.text {
		case "true", "True":
			return &constant{true}
		case "false", "False":
			return &constant{false}
		case "none", "None":
			return &constant{nil}
		}
		return &nameExpr{t.text}
	case t.kind == tokString:
		s := ""
		for p.cur().kind == tokString {
			s += p.next().text
		}
		return &constant{s}
	case t.kind == tokInt:
		v, err := strconv.ParseInt(p.next().text, 0, 64)
		if err != nil {
			if v, err = strconv.ParseInt(t.text, 10, 64); err != nil {
				p.fail("a number beyond 64 bits")
			}
		}
		return &constant{v}
	case t.kind == tokFloat:
		v, err := strconv.ParseFloat(p.next().text, 64)
		if err != nil && math.IsInf(v, 0) {
			p.fail("a number beyond 64 bits")
		}
		return &constant{v}
	case p.skipOp("("):
		if p.skipOp(")") {
			return &listExpr{tuple: true}
		}
		x := p.tuple(true)
		p.wantOp(")")
		return x
	case p.skipOp("["):
		return &listExpr{items: p.items("]")}
	case p.skipOp("{"):
		return p.dict()
	}
	p.fail("expected an expression")
	return nil
}

// items reads expressions up to a closing bracket.
func (p *parser) items(end string) []expr {
	var out []expr
	for !p.skipOp(end) {
		if len(out) > 0 {
			p.wantOp(",")
			if p.skipOp(end) {
				break
			}
		}
		out = append(out, p.expression())
	}
	return out
}

func (p *parser) dict() expr {
	d := &dictExpr{}
	for !p.skipOp("}") {
		if len(d.keys) > 0 {
			p.wantOp(",")
			if p.skipOp("}") {
				break
			}
		}
		d.keys = append(d.keys, p.expression())
		p.wantOp(":")
		d.values = append(d.values, p.expression())
	}
	return d
}

// tuple reads an expression, or several with commas as a tuple.
func (p *parser) tuple(cond bool) expr {
	one := p.expression
	if !cond {
		one = p.or
	}
	items := []expr{one()}
	comma := false
	for p.skipOp(",") {
		comma = true
		if t := p.cur(); t.kind == tokVarEnd || t.kind == tokBlockEnd || t.isOp(")") || t.isName("in") || t.isName("recursive") {
			break
		}
		items = append(items, one())
	}
	if !comma {
		return items[0]
	}
	return &listExpr{items: items, tuple: true}
}

// postfix reads attributes, items and calls.
func (p *parser) postfix(x expr) expr {
	for n := 0; ; p.chain(&n) {
		switch t := p.cur(); {
		case p.skipOp("."):
			switch a := p.next(); a.kind {
			case tokName:
				x = &attrExpr{x, a.text}
			case tokInt:
				v, _ := strconv.ParseInt(a.text, 10, 64)
				x = &itemExpr{x, &constant{v}}
			default:
				p.fail("expected a name after a dot")
			}
		case p.skipOp("["):
			x = p.subscript(x)
		case t.isOp("("):
			x = &callExpr{x, p.arguments(), t.line}
		default:
			return x
		}
	}
}

func (p *parser) subscript(x expr) expr {
	var parts [3]expr
	n := 0
	for n < 3 {
		if !p.cur().isOp(":") && !p.cur().isOp("]") {
			parts[n] = p.expression()
		}
		if !p.skipOp(":") {
			break
		}
		n++
	}
	p.wantOp("]")
	if n > 0 {
		return &sliceExpr{x, parts[0], parts[1], parts[2]}
	}
	if parts[0] == nil {
		p.fail("expected an index")
	}
	return &itemExpr{x, parts[0]}
}

// arguments reads the arguments of a call, brackets and all.
func (p *parser) arguments() (a arguments) {
	p.wantOp("(")
	for first := true; !p.skipOp(")"); first = false {
		if !first {
			p.wantOp(",")
			if p.skipOp(")") {
				break
			}
		}
		switch {
		case p.skipOp("**"):
			a.kwrest = p.expression()
		case p.skipOp("*"):
			a.rest = p.expression()
		case p.cur().kind == tokName && p.peek().isOp("="):
			a.names = append(a.names, p.next().text)
			p.next()
			a.values = append(a.values, p.expression())
		case len(a.names) > 0 || a.kwrest != nil:
			p.fail("an argument without a name follows one with a name")
		default:
			a.list = append(a.list, p.expression())
		}
	}
	return a
}

// filters reads what follows an operand: filters, tests and calls of results.
func (p *parser) filters(x expr) expr {
	for n := 0; ; p.chain(&n) {
		switch t := p.cur(); {
		case t.isOp("|"):
			p.next()
			x = p.filter(x)
		case t.isName("is"):
			p.next()
			x = p.test(x)
		case t.isOp("("):
			x = &callExpr{x, p.arguments(), t.line}
		default:
			return x
		}
	}
}

func (p *parser) filter(x expr) *filterExpr {
	f := &filterExpr{x: x, name: p.ident()}
	var ok bool
	if f.fn, ok = filters(f.name); !ok { // an error only where it runs, as in Jinja
		f.fn = func(s *state, _ any, _ args) any { s.fail("filter %q is not supported", f.name); return nil }
	}
	if p.cur().isOp("(") {
		f.args = p.arguments()
	}
	return f
}

func (p *parser) test(x expr) expr {
	t := &testExpr{x: x, not: p.skipName("not"), name: p.ident()}
	var ok bool
	if t.fn, ok = tests(t.name); !ok {
		t.fn = func(s *state, _ any, _ args) bool { s.fail("test %q is not supported", t.name); return false }
	}
	switch c := p.cur(); {
	case c.isOp("("):
		t.args = p.arguments()
	case c.isName("else"), c.isName("or"), c.isName("and"):
	case c.isName("is"):
		p.fail("a test after a test")
	case c.kind == tokName, c.kind == tokString, c.kind == tokInt, c.kind == tokFloat, c.isOp("["), c.isOp("{"):
		t.args.list = []expr{p.postfix(p.primary())}
	}
	return t
}
