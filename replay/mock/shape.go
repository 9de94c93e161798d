package mock

import (
	"fmt"
	"maps"
	"slices"
)

// Shape is how answers are cut into events and bytes. The zero value is vLLM's
// own shape, one token an event. In text: interval=4,crlf,ping=1s,split=6.
type Shape struct {
	NoRole         bool    `yaml:"no_role,omitempty" json:"no_role,omitempty"`                 // no role-only first event
	Reasoning      float64 `yaml:"reasoning,omitempty" json:"reasoning,omitempty"`             // share of the tokens, the first ones, that are reasoning
	ReasoningField string  `yaml:"reasoning_field,omitempty" json:"reasoning_field,omitempty"` // reasoning_content (also when empty), or reasoning as vLLM names it since 2025-11
	Tools          bool    `yaml:"tools,omitempty" json:"tools,omitempty"`                     // the answer, behind any reasoning, is a tool call
	Unicode        bool    `yaml:"unicode,omitempty" json:"unicode,omitempty"`                 // words of several bytes a character
	Interval       int     `yaml:"interval,omitempty" json:"interval,omitempty"`               // tokens an event; the first token goes alone
	OwnFinish      bool    `yaml:"own_finish,omitempty" json:"own_finish,omitempty"`           // finish_reason in an event of its own, not in the last token's
	Usage          string  `yaml:"usage,omitempty" json:"usage,omitempty"`                     // empty: as asked for; last, every or never
	NoDone         bool    `yaml:"no_done,omitempty" json:"no_done,omitempty"`                 // no [DONE]
	Ping           Span    `yaml:"ping,omitempty" json:"ping,omitempty"`                       // a comment so often
	CRLF           bool    `yaml:"crlf,omitempty" json:"crlf,omitempty"`                       // lines end in CRLF
	CR             bool    `yaml:"cr,omitempty" json:"cr,omitempty"`                           // lines end in CR
	NoSpace        bool    `yaml:"no_space,omitempty" json:"no_space,omitempty"`               // data: without a space behind it
	Multiline      bool    `yaml:"multiline,omitempty" json:"multiline,omitempty"`             // data in two lines
	Split          int     `yaml:"split,omitempty" json:"split,omitempty"`                     // bytes a write, wherever that cuts; 6 ends the first behind "data: "
	SplitGap       Span    `yaml:"split_gap,omitempty" json:"split_gap,omitempty"`             // between two writes
}

// ParseShape reads a shape in text.
func ParseShape(text string) (Shape, error) {
	var s Shape
	if err := setFields(text, s.fields().set); err != nil {
		return Shape{}, fmt.Errorf("shape: %w", err)
	}
	return s, s.Validate()
}

// ShapeKeys are the keys that ParseShape takes.
func ShapeKeys() []string { return slices.Sorted(maps.Keys(new(Shape).fields())) }

func (s *Shape) fields() setter {
	return setter{
		"no_role": &s.NoRole, "reasoning": &s.Reasoning, "reasoning_field": &s.ReasoningField, "tools": &s.Tools,
		"unicode": &s.Unicode, "interval": &s.Interval, "own_finish": &s.OwnFinish, "usage": &s.Usage, "no_done": &s.NoDone,
		"ping": &s.Ping, "crlf": &s.CRLF, "cr": &s.CR, "no_space": &s.NoSpace, "multiline": &s.Multiline, "split": &s.Split, "split_gap": &s.SplitGap,
	}
}

// String is the shape in the form that ParseShape reads.
func (s Shape) String() string {
	return s.fields().text([]string{"no_role", "reasoning", "reasoning_field", "tools", "unicode", "interval", "own_finish", "usage",
		"no_done", "ping", "crlf", "cr", "no_space", "multiline", "split", "split_gap"})
}

// Validate says what is wrong with a shape, naming the field.
func (s *Shape) Validate() error {
	switch {
	case !(s.Reasoning >= 0 && s.Reasoning <= 1):
		return fmt.Errorf("shape: reasoning is %v, give a share of 0 to 1", s.Reasoning)
	case !slices.Contains([]string{"", "reasoning_content", "reasoning"}, s.ReasoningField):
		return fmt.Errorf("shape: reasoning_field is not reasoning_content or reasoning")
	case s.Interval < 0 || s.Interval > 1<<16:
		return fmt.Errorf("shape: interval is %d, give 1 to %d tokens", s.Interval, 1<<16)
	case !slices.Contains([]string{"", "last", "every", "never"}, s.Usage):
		return fmt.Errorf("shape: usage is not one of last, every, never")
	case s.Ping != 0 && s.Ping < Span(minPing):
		return fmt.Errorf("shape: ping is %s, give at least %s", s.Ping, minPing)
	case s.Split < 0 || s.Split > 1<<20:
		return fmt.Errorf("shape: split is %d, give 1 to %d bytes", s.Split, 1<<20)
	case s.SplitGap != 0 && s.Split == 0:
		return fmt.Errorf("shape: split_gap needs split, the bytes of a write")
	case s.CR && s.CRLF:
		return fmt.Errorf("shape: lines end in cr or in crlf, not both")
	}
	return nil
}
