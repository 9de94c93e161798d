package ingest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Reasons lists every constant of type Reason that a reader can give: what it
// lacks would be counted and never told.
func TestReasonsAreAll(t *testing.T) {
	known, found := Reasons(), 0
	for _, dir := range []string{".", "rows"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			src, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, src, 0)
			if err != nil || strings.HasSuffix(name, "_test.go") {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				v, ok := n.(*ast.ValueSpec)
				if !ok || len(v.Values) != 1 {
					return true
				}
				if id, ok := v.Type.(*ast.Ident); !ok || id.Name != "Reason" {
					return true
				}
				lit, ok := v.Values[0].(*ast.BasicLit)
				if !ok {
					return true
				}
				text, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				found++
				if !slices.Contains(known, Reason(text)) {
					t.Errorf("%s: %s is not among Reasons", name, text)
				}
				return true
			})
		}
	}
	if found < len(known)/2 {
		t.Errorf("%d constants found of %d reasons", found, len(known))
	}
}
