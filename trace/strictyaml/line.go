package strictyaml

import (
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"
)

// Line returns the line, from 1, of what a document has at a path, for errors
// that are found after it was decoded: a string of it is a key, an int a place in
// a list. Where the path leads nowhere it is that of the part that is there; 0
// where nothing is.
func Line(data []byte, path ...any) (line int) {
	defer func() {
		if recover() != nil { // as in Decode
			line = 0
		}
	}()
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return 0
	}
	b := (&yaml.PathBuilder{}).Root()
	for _, step := range path {
		switch v := step.(type) {
		case string:
			b = b.Child(v)
		case int:
			b = b.Index(uint(v))
		default:
			return line
		}
		node, err := b.Build().FilterFile(file)
		if err != nil || node == nil || node.GetToken() == nil {
			return line
		}
		line = node.GetToken().Position.Line
	}
	return line
}
