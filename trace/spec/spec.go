// Package spec holds the workload spec: pure data, its one encoding and its
// checks.
//
// A spec says what the load is (Workload), which question is asked of it
// (Question), what leaves (Privacy, Artifacts) and who must approve. Every
// number carries its provenance: measured, estimated or assumed, and an
// assumed one the data request that would replace it.
//
// spec.json has one encoding for one value (package strictjson; numbers with
// at most six significant digits, counts and sizes as exact integers), since
// it is what both sides sign. Decode refuses any other.
package spec

import (
	"errors"
	"fmt"

	"reprise/trace"
	"reprise/trace/strictjson"
)

// Kind and Version identify the format.
const (
	Kind    = "reprise.spec"
	Version = 1
)

// Spec is the whole document, in the order of its keys.
type Spec struct {
	Kind         string        `json:"kind"`
	Version      int           `json:"version"`
	Revision     int           `json:"revision"`
	Supersedes   *Supersedes   `json:"supersedes,omitempty"`
	Status       string        `json:"status"`
	Question     Question      `json:"question"`
	Workload     Workload      `json:"workload"`
	Runs         []Run         `json:"runs"`
	Privacy      Privacy       `json:"privacy"`
	Synth        Synth         `json:"synth"`
	DataRequests []DataRequest `json:"data_requests"`
	Artifacts    []Artifact    `json:"artifacts"`
	Approvals    []Approval    `json:"approvals_required"`
	Tool         trace.Tool    `json:"tool"`
}

// The states of a spec.
const (
	Draft     = "draft"
	Proposed  = "proposed"
	Withdrawn = "withdrawn"
)

// Supersedes names the revision that this one replaces.
type Supersedes struct {
	Revision int    `json:"revision"`
	SHA256   string `json:"sha256"`
}

// Question is what both sides agree to find out. Sentence is built from the
// other parts and reads aloud.
type Question struct {
	Sentence    string   `json:"sentence"`
	Mix         string   `json:"mix"`
	DateLabel   string   `json:"date_label"`
	Load        Load     `json:"load"`
	SLO         []SLO    `json:"slo"`
	Region      string   `json:"region"`
	Comparison  string   `json:"comparison"`
	OutOfScope  []string `json:"out_of_scope"`
	ClientRunBy string   `json:"client_run_by"`
	Handoff     string   `json:"handoff_command"`
	Today       *Today   `json:"today,omitempty"` // what is said of the endpoint in use
}

// Load is the offered load of the question, for instance 5.5 1/s.
type Load struct {
	Value Num    `json:"value"`
	Unit  string `json:"unit"`
}

// SLO is one limit: Percentile (0…100) of Metric (ttft, tpot, itl, e2e) is at
// most ThresholdMS, measured at MeasuredAt (client, server).
type SLO struct {
	Metric      string `json:"metric"`
	Percentile  Num    `json:"percentile"`
	ThresholdMS Num    `json:"threshold_ms"`
	MeasuredAt  string `json:"measured_at"`
}

// Run is one row of the run matrix.
type Run struct {
	Name  string `json:"name"`
	Mode  string `json:"mode"` // closed_loop, open_loop, replay, ramp
	Load  Load   `json:"load"`
	LastS Num    `json:"duration_s"`
}

// Privacy is the leakage profile that was applied. Leaves names the files and
// fields that leave; HeldBack those that the k/u rules keep back.
type Privacy struct {
	Profile  string   `json:"profile"`
	K        int      `json:"k"`
	U        int      `json:"u"`
	Calendar string   `json:"calendar"`
	Leaves   []string `json:"leaves"`
	HeldBack []string `json:"held_back"`
}

// Synth pins what synthetic text is made with.
type Synth struct {
	Tokenizer      trace.Named `json:"tokenizer"`
	WordListSHA256 string      `json:"word_list_sha256"`
}

// DataRequest is something to ask for, and the rows it would replace.
type DataRequest struct {
	Ask      string   `json:"ask"`
	Replaces []string `json:"replaces"`
}

// Artifact is a file of the bundle.
type Artifact struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Approval is a signature that the spec needs: Role is customer or vendor,
// Principal the name in allowed_signers.
type Approval struct {
	Role      string `json:"role"`
	Principal string `json:"principal"`
}

// Encode validates s and returns its one encoding.
func Encode(s *Spec) ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	s.fill()
	b, err := strictjson.Encode(s)
	if err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	return b, nil
}

// fill replaces absent lists by empty ones, so that they are written as [].
func (s *Spec) fill() {
	for _, l := range []*[]string{&s.Question.OutOfScope, &s.Privacy.Leaves, &s.Privacy.HeldBack} {
		if *l == nil {
			*l = []string{}
		}
	}
	if s.Question.SLO == nil {
		s.Question.SLO = []SLO{}
	}
	if s.Runs == nil {
		s.Runs = []Run{}
	}
	if s.DataRequests == nil {
		s.DataRequests = []DataRequest{}
	}
	if s.Artifacts == nil {
		s.Artifacts = []Artifact{}
	}
	if s.Approvals == nil {
		s.Approvals = []Approval{}
	}
	lengths := []*Length{&s.Workload.Lengths.Input, &s.Workload.Lengths.Output}
	for i := range s.Workload.Jobs {
		lengths = append(lengths, s.Workload.Jobs[i].Input, s.Workload.Jobs[i].Output)
	}
	for _, l := range lengths {
		if l != nil && l.Families == nil {
			l.Families = []Family{}
		}
	}
}

// Decode reads a spec and refuses whatever Encode would not have written.
func Decode(data []byte) (*Spec, error) {
	if len(data) == 0 {
		return nil, errors.New("spec: the file is empty")
	}
	var s Spec
	if err := strictjson.Decode(data, &s); err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	again, err := Encode(&s) // which validates, and writes absent lists as []
	if err != nil {
		return nil, err
	}
	if err := strictjson.Same(again, data); err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	return &s, nil
}
