package mock

import (
	"sync"
)

// Counter turns text into token ids. It must be safe for concurrent use.
type Counter interface {
	Encode(dst []int32, text string) []int32
}

// Template is what a chat template adds to the prompt, tokens: Prefix at its
// beginning, and PerMessage before the content of each message. They are
// counted in prompt_tokens and take part in prefix blocks.
type Template struct {
	Prefix     int `json:"prefix"`
	PerMessage int `json:"per_message"`
}

// DefaultTemplate resembles OpenAI's chat format (its cookbook counts 3 tokens
// and the role for a message, and 3 more for a prompt).
func DefaultTemplate() Template { return Template{Prefix: 3, PerMessage: 4} }

// prompter renders prompts as token ids.
type prompter struct {
	counter  Counter
	template Template
	cache    textCache
}

// render returns the whole prompt of a call. Template tokens have negative ids,
// which no vocabulary has, and differ by role.
func (p *prompter) render(c *call) []int32 {
	if !c.chat {
		if c.tokens != nil {
			return c.tokens
		}
		return p.encode(nil, c.text)
	}
	var ids []int32
	for k := range p.template.Prefix {
		ids = append(ids, -1-int32(k))
	}
	if c.tools != nil {
		ids = p.message(ids, message{role: "tools", texts: []string{string(c.tools)}})
	}
	for _, m := range c.messages {
		ids = p.message(ids, m)
	}
	return ids
}

func (p *prompter) message(ids []int32, m message) []int32 {
	for k := range p.template.PerMessage {
		ids = append(ids, -1-roleIndex(m.role)<<16-int32(k))
	}
	for _, t := range m.texts {
		ids = p.encode(ids, t)
	}
	return ids
}

// roleIndex numbers the roles from 1, as 0 is the prefix; the last is any other.
func roleIndex(role string) int32 {
	switch role {
	case "system":
		return 1
	case "developer":
		return 2
	case "user":
		return 3
	case "assistant":
		return 4
	case "tool":
		return 5
	case "tools":
		return 6
	}
	return 7
}

// encode appends the ids of a text.
func (p *prompter) encode(ids []int32, text string) []int32 {
	if cached, ok := p.cache.get(text); ok {
		return append(ids, cached...)
	}
	n := len(ids)
	ids = p.counter.Encode(ids, text)
	p.cache.put(text, ids[n:])
	return ids
}

// textCache remembers the ids of texts, in two generations: when the young one
// is full it becomes the old one, and what is found there moves up again.
type textCache struct {
	mu         sync.Mutex
	young, old map[string][]int32
	size       int // bytes of the young generation
}

const textCacheBytes = 32 << 20 // of a generation

func (c *textCache) get(text string) ([]int32, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids, ok := c.young[text]
	if !ok {
		if ids, ok = c.old[text]; ok {
			c.store(text, ids)
		}
	}
	return ids, ok
}

func (c *textCache) put(text string, ids []int32) {
	own := append([]int32(nil), ids...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.store(text, own)
}

// store adds to the young generation; mu is held.
func (c *textCache) store(text string, ids []int32) {
	if c.young == nil || c.size > textCacheBytes {
		c.young, c.old, c.size = map[string][]int32{}, c.young, 0
	}
	if _, ok := c.young[text]; !ok {
		c.young[text] = ids
		c.size += len(text) + 4*len(ids) + 64
	}
}
