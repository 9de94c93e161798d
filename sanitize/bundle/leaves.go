package bundle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"reprise/trace/spec"
	"reprise/trace/strictjson"
)

// leaves lists the files and fields that leave: "audit.json", "trace.parquet:
// input_tokens", "spec.json: workload.lengths.input.quantiles".
func leaves(out *leaving) []string {
	list := []string{ReadmeFile, AuditFile, ReviewFile}
	for _, k := range sections(out.spec) {
		list = append(list, SpecFile+": "+k)
	}
	if out.rows != nil {
		for _, c := range traceFields() {
			if c.name != "client" {
				list = append(list, TraceFile+": "+c.name)
			}
		}
	}
	slices.Sort(list)
	return list
}

// sections returns the parts of a spec that are there: its keys, and under
// workload what it holds down to single numbers and tables.
func sections(s *spec.Spec) []string {
	tree, err := plain(s)
	if err != nil {
		return nil // leave has encoded this spec already
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(tree)) {
		if k == "workload" {
			walkSections(k, tree[k], &out)
			continue
		}
		out = append(out, k)
	}
	return out
}

func walkSections(key string, v any, out *[]string) {
	if v == nil {
		return
	}
	m, ok := v.(map[string]any)
	if _, numbers := m["from"]; !ok || numbers {
		if list, isList := v.([]any); !isList || len(list) > 0 {
			*out = append(*out, key)
		}
		return
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		walkSections(key+"."+k, m[k], out)
	}
}

// plain returns a spec as maps and lists.
func plain(s *spec.Spec) (map[string]any, error) {
	raw, err := strictjson.Encode(s)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var tree map[string]any
	if err := d.Decode(&tree); err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	return tree, nil
}
