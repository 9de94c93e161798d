package sanitize

import (
	"errors"
	"path/filepath"
	"regexp"
	"sync"

	"reprise/trace"
	"reprise/trace/token"
	"reprise/trace/token/chat"
	"reprise/trace/token/chat/jinja"
)

// Counting is a Tokenizer that counts prompts as a server does: rendered by a
// chat template, with special tokens, and remembering what it counted before.
// Goroutines share it.
type Counting struct {
	prompts  *token.Prompts
	template *chat.Template // nil: messages are framed as OpenAI's chat models do
	check    *checker       // nil: none
	also     *Counting      // the second tokenizer, nil: none

	mu      sync.Mutex
	refused Refused
	chats   int64 // prompts of messages that were counted
}

// Refused counts the prompts that a template did not render, by class.
type Refused struct {
	Raised int64 // the template refuses the conversation
	Failed int64 // it cannot render what is in it
	Limits int64 // it goes beyond a limit
}

// Total is how many there are.
func (r Refused) Total() int64 { return r.Raised + r.Failed + r.Limits }

// memoBytes bounds what is remembered of texts that were counted before.
const memoBytes = 64 << 20

// NewCounting returns the counting of a tokenizer and a template, which may be nil.
func NewCounting(t *token.Tokenizer, template *chat.Template) *Counting {
	var specials []token.Special
	if template != nil {
		specials = template.Specials()
	}
	return &Counting{prompts: token.NewPrompts(t, specials, token.NewMemo(memoBytes)), template: template}
}

// Check has up to 1,000 texts of the log counted by another implementation too,
// where the tokenizer has one (the embedded encodings); see Checked.
func (c *Counting) Check() { c.check = newChecker(c.prompts.Tokenizer()) }

// Checked compares the texts that were sampled. It is nil where there is no
// check.
func (c *Counting) Checked() (*trace.Check, error) {
	if c.check == nil {
		return nil, nil
	}
	return c.check.result()
}

// Name implements Tokenizer. Of a file it is the name without the folder, since
// it stands in the trace.
func (c *Counting) Name() string { return filepath.Base(c.prompts.Tokenizer().Name()) }

// SHA256 implements Tokenizer.
func (c *Counting) SHA256() string { return c.prompts.Tokenizer().SHA256() }

// Encode implements Tokenizer.
func (c *Counting) Encode(dst []int32, text string) []int32 {
	if c.check != nil {
		c.check.offer(text)
	}
	return c.prompts.EncodeText(dst, text)
}

// Refused returns the prompts that the template did not render so far.
func (c *Counting) Refused() Refused {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused
}

// Chats returns how many prompts of messages were counted so far.
func (c *Counting) Chats() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.chats
}

// named is the template for the header of a trace.
func (c *Counting) named() trace.Named {
	if c.template == nil {
		return trace.Named{}
	}
	return trace.Named{Name: c.template.Name(), SHA256: c.template.SHA256()}
}

// refuse notes why a prompt was not rendered.
func (c *Counting) refuse(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var e *jinja.Error
	switch {
	case errors.Is(err, jinja.ErrLimit):
		c.refused.Limits++
	case errors.As(err, &e) && e.Raised:
		c.refused.Raised++
	default:
		c.refused.Failed++
	}
}

func (c *Counting) chat() {
	c.mu.Lock()
	c.chats++
	c.mu.Unlock()
}

// Overhead is what a template adds to the text of messages, in tokens.
type Overhead struct {
	First int // to a prompt of one message of a user
	Turn  int // and for an answer and the next message together
}

// Overhead measures the template on short conversations; ok is false where
// it does not render them. Without a template it is what OpenAI states.
func (c *Counting) Overhead() (o Overhead, ok bool) {
	if c.template == nil {
		return Overhead{}, false
	}
	one, ok1 := c.overheadOf("user")
	three, ok3 := c.overheadOf("user", "assistant", "user")
	return Overhead{First: one, Turn: three - one}, ok1 && ok3
}

// Missing returns the first mark of the template, such as <|im_start|>, that is
// no token of the tokenizer and so is counted as text; empty when there is none.
func (c *Counting) Missing() string {
	if c.template == nil {
		return ""
	}
	text, err := c.template.Render(background(), chat.Conversation{Messages: []*jinja.Dict{chat.Text("user", "hello")}}, true)
	if err != nil {
		return ""
	}
	for _, mark := range regexp.MustCompile(`<[|｜][^<>\s]{1,40}[|｜]>|<[a-z_]{1,20}_of_turn>`).FindAllString(text, -1) {
		if len(c.prompts.Encode(nil, mark)) > 1 {
			return mark
		}
	}
	return ""
}

func (c *Counting) overheadOf(roles ...string) (int, bool) {
	const word = "hello"
	own := len(c.prompts.EncodeText(nil, word))
	var messages []*jinja.Dict
	for _, r := range roles {
		messages = append(messages, chat.Text(r, word))
	}
	text, err := c.template.Render(background(), chat.Conversation{Messages: messages}, true)
	if err != nil {
		return 0, false
	}
	return len(c.prompts.Encode(nil, text)) - own*len(roles), true
}
