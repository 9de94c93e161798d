package fit

import (
	"reflect"
	"testing"

	"reprise/trace"
	"reprise/trace/spec"
)

// TestFeatures counts tokens of tools among the prompts that have any, and finds
// what half a log lacks.
func TestFeatures(t *testing.T) {
	x := &trace.Trace{}
	for i := range 40 {
		r := trace.Request{ID: int64(i), N: 1, Model: "model1", Stream: trace.Some(true), Tools: trace.Some(i%4 == 0), ToolTok: trace.Some(int32(0))}
		if r.Tools.V {
			r.ToolTok = trace.Some(int32(100 + i))
		}
		if i >= 20 {
			r.Schema, r.SchemaT, r.N, r.Adapter = trace.Some(true), trace.Some(int32(50)), 3, "adapter1"
		}
		x.Requests = append(x.Requests, r)
	}
	f := Features(x)
	if f.Tools.Value != 0.25 || f.ToolTokens.N != 10 || f.ToolTokens.Values[0] != 100 || f.SchemaTokens.N != 20 || f.Several.Value != 0.5 {
		t.Errorf("%+v", f)
	}
	if l := Lacking(&f, x); l != nil {
		t.Errorf("a log lacks %v of itself", l)
	}
	half := &trace.Trace{Requests: x.Requests[1:4]}
	want := []string{"tools (25 % of the workload)", "a JSON schema (100 % of the workload)", "n above 1 (50 % of the workload)", "adapter adapter1 (50 % of the workload)"}
	if l := Lacking(&f, half); !reflect.DeepEqual(l, want) {
		t.Errorf("%q", l)
	}
	if l := Lacking(&spec.Features{}, half); l != nil {
		t.Errorf("nothing in use lacks %v", l)
	}
}
