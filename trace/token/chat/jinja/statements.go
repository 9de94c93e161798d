package jinja

import "slices"

// body reads statements up to one of the ending tags, whose name is left to
// read, or to the end of the source.
func (p *parser) body(ends ...string) []node {
	defer p.nest()()
	var out []node
	for {
		switch t := p.cur(); t.kind {
		case tokEOF:
			if len(ends) > 0 {
				p.fail("expected {%% %s %%} before the template's end", ends[len(ends)-1])
			}
			return out
		case tokData:
			p.next()
			out = append(out, &textNode{t.text})
		case tokVarBegin:
			p.next()
			out = append(out, &outputNode{p.tuple(true), t.line})
			if p.next().kind != tokVarEnd {
				p.fail("expected }}")
			}
		default:
			if slices.Contains(ends, p.peek().text) {
				p.next()
				return out
			}
			p.next()
			if p.cur().kind == tokName && len(p.cur().text) > 3 && p.cur().text[:3] == "end" {
				p.fail("unexpected {%% %s %%}", p.cur().text)
			}
			out = append(out, p.statement())
		}
	}
}

// end closes a block tag.
func (p *parser) end() {
	if p.next().kind != tokBlockEnd {
		p.at--
		p.fail("expected %%}")
	}
}

// until reads a body and the tag that ends it.
func (p *parser) until(end string) []node {
	p.end()
	body := p.body(end)
	p.wantName(end)
	return body
}

func (p *parser) statement() node {
	switch name := p.ident(); name {
	case "if":
		return p.ifs()
	case "for":
		return p.forLoop()
	case "set":
		return p.set()
	case "macro":
		return p.macro()
	case "call":
		return p.callBlock()
	case "filter":
		x := p.filterChain()
		n := &filterNode{filter: x, body: p.until("endfilter")}
		p.end()
		return n
	case "with":
		return p.with()
	case "generation":
		n := &bodyNode{p.until("endgeneration")}
		p.end()
		return n
	case "do":
		n := &doNode{p.tuple(true)}
		p.end()
		return n
	case "break", "continue":
		if p.loops == 0 {
			p.fail("%s outside of a loop", name)
		}
		p.end()
		if name == "break" {
			return breakNode{}
		}
		return contNode{}
	default:
		p.fail("{%% %s %%} is not supported in a chat template", name)
		return nil
	}
}

func (p *parser) ifs() node {
	n := &ifNode{}
	for {
		n.tests = append(n.tests, p.tuple(false))
		p.end()
		n.then = append(n.then, p.body("elif", "else", "endif"))
		switch p.ident() {
		case "elif":
			continue
		case "else":
			n.other = p.until("endif")
		}
		p.end()
		return n
	}
}

func (p *parser) forLoop() node {
	n := &forNode{target: p.target(false)}
	p.wantName("in")
	n.over = p.tuple(false)
	if p.skipName("if") {
		n.only = p.expression()
	}
	n.recursive = p.skipName("recursive")
	p.end()
	p.loops++
	n.body = p.body("else", "endfor")
	p.loops--
	if p.ident() == "else" {
		n.other = p.until("endfor")
	}
	p.end()
	return n
}

// target reads what is assigned to.
func (p *parser) target(attrs bool) target {
	var list []target
	for {
		var t target
		if p.skipOp("(") {
			defer p.nest()()
			t = p.target(attrs)
			p.wantOp(")")
		} else {
			t = target{name: p.ident()}
		}
		if attrs && p.skipOp(".") {
			t.attr = p.ident()
		}
		if list = append(list, t); !p.skipOp(",") {
			break
		}
		if p.cur().isName("in") {
			break
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	return target{items: list}
}

func (p *parser) set() node {
	t := p.target(true)
	if p.skipOp("=") {
		n := &setNode{t, p.tuple(true)}
		p.end()
		return n
	}
	n := &setBlockNode{target: t}
	if p.skipOp("|") {
		n.filter = p.filterChain()
	}
	n.body = p.until("endset")
	p.end()
	return n
}

// filterChain reads filters over the text of a block.
func (p *parser) filterChain() *filterExpr {
	f := p.filter(piped{})
	for p.skipOp("|") {
		f = p.filter(f)
	}
	return f
}

func (p *parser) signature(n *macroNode) {
	p.wantOp("(")
	for first := true; !p.skipOp(")"); first = false {
		if !first {
			p.wantOp(",")
			if p.skipOp(")") {
				break
			}
		}
		n.params = append(n.params, p.ident())
		if p.skipOp("=") {
			n.defaults = append(n.defaults, p.expression())
		} else if len(n.defaults) > 0 {
			p.fail("a parameter without a default follows one with a default")
		}
	}
}

func (p *parser) macro() node {
	n := &macroNode{name: p.ident()}
	p.signature(n)
	loops := p.loops
	p.loops = 0
	n.body = p.until("endmacro")
	p.loops = loops
	p.end()
	return n
}

func (p *parser) callBlock() node {
	n := &callNode{macro: &macroNode{name: "caller"}}
	if p.cur().isOp("(") {
		p.signature(n.macro)
	}
	call, ok := p.expression().(*callExpr)
	if !ok {
		p.fail("expected a call")
	}
	n.call = call
	loops := p.loops
	p.loops = 0
	n.macro.body = p.until("endcall")
	p.loops = loops
	p.end()
	return n
}

func (p *parser) with() node {
	n := &withNode{}
	for p.cur().kind != tokBlockEnd {
		if len(n.targets) > 0 {
			p.wantOp(",")
		}
		n.targets = append(n.targets, target{name: p.ident()})
		p.wantOp("=")
		n.values = append(n.values, p.expression())
	}
	n.body = p.until("endwith")
	p.end()
	return n
}
