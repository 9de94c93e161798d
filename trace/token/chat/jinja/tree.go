package jinja

// expr is an expression of the tree; node is a statement.
type (
	expr interface{ eval(*state) any }
	node interface{ run(*state) flow }
)

// flow says how a statement ended.
type flow uint8

const (
	flowOn flow = iota
	flowBreak
	flowContinue
)

// Expressions.
type (
	constant struct{ v any }
	nameExpr struct{ name string }
	listExpr struct {
		items []expr
		tuple bool
	}
	dictExpr struct{ keys, values []expr }
	condExpr struct{ test, yes, no expr } // no is nil without else
	notExpr  struct{ x expr }
	andExpr  struct{ a, b expr }
	orExpr   struct{ a, b expr }
	signExpr struct {
		x   expr
		neg bool
	}
	binExpr struct {
		op   string
		a, b expr
	}
	concatExpr  struct{ parts []expr }
	compareExpr struct {
		first expr
		ops   []string
		rest  []expr
	}
	attrExpr struct {
		x    expr
		name string
	}
	itemExpr  struct{ x, key expr }
	sliceExpr struct{ x, from, to, step expr }
	callExpr  struct {
		fn   expr
		args arguments
		line int
	}
	filterExpr struct {
		x    expr // nil in a filter block and in set with a block
		name string
		fn   filter
		args arguments
	}
	testExpr struct {
		x    expr
		name string
		fn   test
		args arguments
		not  bool
	}
)

// arguments are those of a call, a filter or a test.
type arguments struct {
	list   []expr
	names  []string // of the keyword arguments
	values []expr
	rest   expr // *args
	kwrest expr // **kwargs
}

// Statements.
type (
	textNode   struct{ text string }
	outputNode struct {
		x    expr
		line int
	}
	ifNode struct {
		tests []expr
		then  [][]node
		other []node
	}
	forNode struct {
		target    target
		over      expr
		only      expr // the condition, nil without one
		body      []node
		other     []node
		recursive bool
	}
	setNode struct {
		target target
		x      expr
	}
	setBlockNode struct {
		target target
		filter *filterExpr // the outermost; its innermost x is set at parsing to piped
		body   []node
	}
	macroNode struct {
		name     string
		params   []string
		defaults []expr // of the last params
		body     []node
	}
	callNode struct {
		call  *callExpr
		macro *macroNode // of the block
	}
	filterNode struct {
		filter expr
		body   []node
	}
	withNode struct {
		targets []target
		values  []expr
		body    []node
	}
	bodyNode  struct{ body []node }
	doNode    struct{ x expr }
	breakNode struct{}
	contNode  struct{}
)

// target is what set and for assign to: a name, an attribute of a namespace, or
// several.
type target struct {
	name  string
	attr  string // of the namespace name
	items []target
}

// piped is the text of a block, for the filters behind it.
type piped struct{}
