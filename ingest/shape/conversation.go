package shape

import (
	"errors"
	"slices"
	"strconv"

	"github.com/valyala/fastjson"

	"reprise/ingest/notation"
	"reprise/ingest/rows"
)

// conversationFile says where a row keeps a whole conversation. Every answer in
// it is one request, whose prompt is what stands before it.
type conversationFile struct {
	List    []string          `yaml:"list"`    // paths of the list of messages
	Turns   []string          `yaml:"turns"`   // paths of a list of the user's texts, when there is no answer in the row
	ID      []string          `yaml:"id"`      // paths of the conversation's id
	Role    []string          `yaml:"role"`    // keys of a message
	Text    []string          `yaml:"text"`    // keys of a message
	Answers []string          `yaml:"answers"` // roles that answer
	Roles   map[string]string `yaml:"roles"`   // other names of roles
}

func (f *conversationFile) check() error {
	if len(f.List)+len(f.Turns) == 0 {
		return errors.New("a conversation needs list or turns")
	}
	return nil
}

// conversation takes rows apart. A request has the row it comes from (row), its
// messages, the answer, the message before it (question), the conversation's id
// (session), its own (id), that of the request before it (parent) and its turn.
type conversation struct {
	file  *conversationFile
	row   *fastjson.Value
	pos   rows.Pos
	list  []message
	at    int // of list
	turn  int
	id    string
	copy  fastjson.Parser
	arena fastjson.Arena
	buf   []byte
	count Counts
}

// message is one of a conversation, under the roles that we use.
type message struct {
	role   string
	value  *fastjson.Value // as the row has it
	normal *fastjson.Value // with role and content
}

func newConversation(f *conversationFile) *conversation { return &conversation{file: f} }

func (c *conversation) add(pos rows.Pos, v *fastjson.Value) {
	c.count.Rows++
	c.buf = notation.AppendValue(c.buf[:0], v)
	row, err := c.copy.ParseBytes(c.buf)
	if err != nil { // nested deeper than the parser goes
		return
	}
	c.arena.Reset()
	c.row, c.pos, c.at, c.turn = row, pos, 0, 0
	if c.id = notation.LookupText(row, c.file.ID...); c.id == "" {
		c.id = pos.String()
	}
	c.list = c.list[:0]
	for _, path := range c.file.List {
		if list := notation.List(notation.Lookup(row, path)); list != nil {
			c.messages(list)
			return
		}
	}
	for _, path := range c.file.Turns {
		if list := notation.List(notation.Lookup(row, path)); list != nil {
			c.turns(list)
			return
		}
	}
}

func (c *conversation) messages(list []*fastjson.Value) {
	for _, m := range list {
		role := notation.LookupText(m, c.file.Role...)
		if r, ok := c.file.Roles[role]; ok {
			role = r
		}
		n := c.arena.NewObject()
		n.Set("role", c.arena.NewString(role))
		for _, key := range c.file.Text {
			if t := m.Get(key); t != nil {
				n.Set("content", t)
				break
			}
		}
		c.list = append(c.list, message{role: role, value: m, normal: n})
	}
}

// turns makes a question of every text; the answers are not in the row.
func (c *conversation) turns(list []*fastjson.Value) {
	for _, t := range list {
		n := c.arena.NewObject()
		n.Set("role", c.arena.NewString("user"))
		n.Set("content", t)
		c.list = append(c.list, message{role: "user", value: n, normal: n})
	}
}

func (c *conversation) end(bool) {}

func (c *conversation) next() (rows.Pos, *fastjson.Value, bool) {
	for c.at < len(c.list) {
		i := c.at
		c.at++
		asked := c.list[:i]
		if len(c.file.List) == 0 {
			asked = c.list[:i+1]
		} else if !slices.Contains(c.file.Answers, c.list[i].role) {
			continue
		}
		if !slices.ContainsFunc(asked, func(m message) bool { return m.role != "system" }) {
			c.count.open++
			continue
		}
		c.count.Requests++
		return c.pos, c.request(asked, i), true
	}
	return rows.Pos{}, nil, false
}

// request builds the row of the answer at i.
func (c *conversation) request(asked []message, i int) *fastjson.Value {
	a := &c.arena
	out, messages := a.NewObject(), a.NewArray()
	for k, m := range asked {
		if len(c.file.List) == 0 && k > 0 { // the answers between are not in the row
			messages.SetArrayItem(2*k-1, absentMessage(a, "assistant"))
			messages.SetArrayItem(2*k, m.normal)
			continue
		}
		messages.SetArrayItem(k, m.normal)
	}
	out.Set("row", c.row)
	out.Set("messages", messages)
	out.Set("question", asked[len(asked)-1].value)
	if len(c.file.List) > 0 {
		out.Set("answer", c.list[i].value)
		out.Set("output", c.list[i].normal)
	}
	out.Set("session", a.NewString(c.id))
	out.Set("id", a.NewString(c.name(c.turn)))
	if c.turn > 0 {
		out.Set("parent", a.NewString(c.name(c.turn-1)))
	}
	out.Set("turn", a.NewNumberInt(c.turn))
	c.turn++
	return out
}

// absentMessage stands for a message that the log leaves out.
func absentMessage(a *fastjson.Arena, role string) *fastjson.Value {
	m := a.NewObject()
	m.Set("role", a.NewString(role))
	m.Set("content", a.NewString(notation.CutMark))
	return m
}

func (c *conversation) name(turn int) string { return c.id + "#" + strconv.Itoa(turn) }

func (c *conversation) Counts() Counts { return c.count }
