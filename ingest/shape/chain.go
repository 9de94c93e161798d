package shape

import (
	"errors"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
	"reprise/ingest/rows"
)

// chainFile says that a row names the request it continues. The session is the
// request at the root of that chain.
type chainFile struct {
	ID     string `yaml:"id"`
	Parent string `yaml:"parent"`
	Root   string `yaml:"root"` // what stands in parent where a session begins, such as -1
}

func (f *chainFile) check() error {
	if f.ID == "" || f.Parent == "" {
		return errors.New("a chain needs id and parent")
	}
	return nil
}

// chainer adds the session to every row: its request has row, session, and
// parent where there is one. A parent that was not seen before is a root.
type chainer struct {
	file  *chainFile
	roots map[string]string
	arena fastjson.Arena
	row   *fastjson.Value
	pos   rows.Pos
	ready bool
	count Counts
}

func newChainer(f *chainFile) *chainer { return &chainer{file: f, roots: map[string]string{}} }

func (c *chainer) add(pos rows.Pos, v *fastjson.Value) {
	c.arena.Reset()
	id, parent := notation.LookupText(v, c.file.ID), notation.LookupText(v, c.file.Parent)
	if parent == c.file.Root {
		parent = ""
	}
	root := id
	if parent != "" {
		root = parent
		if r, ok := c.roots[parent]; ok {
			root = r
		}
	}
	if id != "" {
		c.roots[id] = root
	}
	c.pos, c.ready = pos, true
	c.row = c.arena.NewObject()
	c.row.Set("row", v)
	if root != "" {
		c.row.Set("session", c.arena.NewString(root))
	}
	if parent != "" {
		c.row.Set("parent", c.arena.NewString(parent))
	}
}

func (c *chainer) end(bool) {}

// next gives the row that was added; it is the container's, which goes on only
// after this.
func (c *chainer) next() (rows.Pos, *fastjson.Value, bool) {
	ready := c.ready
	c.ready = false
	return c.pos, c.row, ready
}

func (c *chainer) Counts() Counts { return c.count }
