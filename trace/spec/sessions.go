package spec

import (
	"errors"
	"fmt"
	"slices"
)

// Sessions describes conversations. Identity says what told the turns of one
// from another's, the first of these that the log has: session_id,
// parent_chain, prefix_chain (then everything here is estimated). An idle time
// alone never does.
type Sessions struct {
	Count         Number `json:"count"`
	MeanTurns     Number `json:"mean_turns"`
	ShareMultiple Number `json:"share_multi_turn"` // of sessions
	Turns         Table  `json:"turns"`

	Identity   string   `json:"identity,omitempty"`
	MostTurns  *Number  `json:"max_turns,omitempty"`
	Requests   *Number  `json:"share_requests_multi_turn,omitempty"`
	Tokens     *Number  `json:"share_input_tokens_multi_turn,omitempty"`
	Truncated  *Number  `json:"left_truncated,omitempty"`  // share that began before the log
	Censored   *Number  `json:"right_censored,omitempty"`  // share that may go on after it
	Hazards    []Hazard `json:"hazards,omitempty"`         // of sessions whose beginning the log has
	Between    *Table   `json:"between_turns_s,omitempty"` // arrival to arrival
	Think      *Table   `json:"think_s,omitempty"`         // completion to arrival
	ThinkHuman *Table   `json:"think_human_s,omitempty"`   // after an answer
	ThinkTool  *Table   `json:"think_tool_s,omitempty"`    // after tool calls
	Growth     *Table   `json:"growth_tokens,omitempty"`   // of the prompt per turn
	Compacted  *Number  `json:"share_compacted,omitempty"` // of turns that continue a prompt: theirs is shorter
	Branched   *Number  `json:"share_branched,omitempty"`  // of requests that are continued: twice or more
	Kept       *Table   `json:"history_kept,omitempty"`    // part of the prompt before that a turn begins with
	First      *Table   `json:"first_input,omitempty"`     // prompts of first turns
	FirstReuse *Reuse   `json:"first_reuse,omitempty"`     // prefix sharing of first turns, where the log names turns
	Starts     *Starts  `json:"starts,omitempty"`
	Notes      []string `json:"notes,omitempty"`
}

// Hazard is the share of the sessions that reach Turn which go on, by
// Kaplan-Meier; N reached it uncensored. AndLater pools all turns from Turn on.
type Hazard struct {
	Provenance
	Turn     int  `json:"turn"`
	AndLater bool `json:"and_later,omitempty"`
	Value    Num  `json:"value"`
}

// Starts are the arrivals of first turns.
type Starts struct {
	Rate  Number       `json:"rate"` // 1/s
	Rates *RateSeries  `json:"rate_series,omitempty"`
	IDC   []ScaleValue `json:"idc,omitempty"`
}

// The identities of sessions, by precedence.
const (
	BySession = "session_id"
	ByParent  = "parent_chain"
	ByPrefix  = "prefix_chain"
)

// MaxHazard is the number of hazards with a turn of their own.
const MaxHazard = 20

func checkIdentity(key, v string) error {
	if !slices.Contains([]string{BySession, ByParent, ByPrefix}, v) {
		return fmt.Errorf("%s is %.20q, want session_id, parent_chain or prefix_chain", key, v)
	}
	return nil
}

func (s *Sessions) check() error {
	if s == nil {
		return nil
	}
	if s.Identity != "" {
		if err := checkIdentity("identity", s.Identity); err != nil {
			return err
		}
	}
	for i, h := range s.Hazards {
		if h.Turn != i+1 || i > MaxHazard || h.AndLater && i != len(s.Hazards)-1 {
			return fmt.Errorf("hazards[%d]: turns go from 1 to %d and the pooled ones stand last", i, MaxHazard)
		}
		if err := share(fmt.Sprintf("hazards[%d].value", i), h.Value); err != nil {
			return err
		}
	}
	for _, n := range []*Number{s.Requests, s.Tokens, s.Truncated, s.Censored, s.Compacted, s.Branched} {
		if n != nil {
			if err := share("share", n.Value); err != nil {
				return err
			}
		}
	}
	if err := s.checkTables(); err != nil {
		return err
	}
	if s.FirstReuse != nil {
		if err := s.FirstReuse.check("first_reuse"); err != nil {
			return err
		}
	}
	return s.Starts.check()
}

func (s *Sessions) checkTables() error {
	for _, t := range []struct {
		key  string
		t    *Table
		most Num
	}{{"turns", &s.Turns, maxTokens}, {"between_turns_s", s.Between, maxSeconds}, {"first_input", s.First, maxTokens}, {"history_kept", s.Kept, 1},
		{"think_human_s", s.ThinkHuman, maxSeconds}, {"think_tool_s", s.ThinkTool, maxSeconds}, {"think_s", s.Think, maxSeconds}} {
		if t.t == nil {
			continue
		}
		if err := checkTable(t.key, t.t.P, t.t.Values, t.most); err != nil {
			return err
		}
	}
	if s.Growth != nil { // signed: prompts shrink
		return checkSigned("growth_tokens", s.Growth.P, s.Growth.Values, maxTokens)
	}
	return nil
}

// checkSigned is checkTable for values of both signs.
func checkSigned(key string, p, v []Num, most Num) error {
	if len(p) == 0 || len(p) != len(v) {
		return fmt.Errorf("%s has %d probabilities and %d values", key, len(p), len(v))
	}
	up := make([]Num, len(v))
	for i := range v {
		up[i] = v[i] + most
	}
	return checkTable(key, p, up, 2*most)
}

func (s *Starts) check() error {
	if s == nil {
		return nil
	}
	if s.Rate.Value < 0 {
		return errors.New("starts.rate is negative")
	}
	if s.Rates == nil {
		return nil
	}
	if err := s.Rates.check(); err != nil {
		return fmt.Errorf("starts.%w", err)
	}
	return nil
}
