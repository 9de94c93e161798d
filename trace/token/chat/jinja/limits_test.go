package jinja

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// Hostile templates end in an error about a limit, soon and with little memory.
func TestHostile(t *testing.T) {
	limits := Limits{Steps: 200_000, Bytes: 4 << 20, Depth: 100}
	for name, src := range map[string]string{
		"loops":           `{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}`,
		"range":           `{% for a in range(100000000) %}{% endfor %}`,
		"range overflow":  `{{ range(-9223372036854775807, 9223372036854775807) | length }}`,
		"power":           `{{ 2 ** 100000000000 }}`,
		"repeat":          `{{ 'aaaaaaaa' * 100000000000 }}`,
		"repeat list":     `{{ [1, 2] * 100000000000 }}`,
		"double":          `{% set ns = namespace(s='ab') %}{% for i in range(64) %}{% set ns.s = ns.s + ns.s %}{% endfor %}`,
		"double concat":   `{% set ns = namespace(s='ab') %}{% for i in range(64) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}`,
		"double list":     `{% set ns = namespace(s=[1]) %}{% for i in range(64) %}{% set ns.s = ns.s + ns.s %}{% endfor %}`,
		"shared list":     `{% set ns = namespace(s=['abcdefgh']) %}{% for i in range(64) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s }}`,
		"shared json":     `{% set ns = namespace(s=['abcdefgh']) %}{% for i in range(64) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}{{ ns.s | tojson }}`,
		"shared equal":    `{% set a = namespace(s=[1]) %}{% set b = namespace(s=[1]) %}{% for i in range(60) %}{% set a.s = [a.s, a.s] %}{% set b.s = [b.s, b.s] %}{% endfor %}{{ a.s == b.s }}`,
		"deep":            `{% set ns = namespace(s=[]) %}{% for i in range(5000) %}{% set ns.s = [ns.s] %}{% endfor %}{{ ns.s }}`,
		"macro":           `{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}`,
		"two macros":      `{% macro f() %}{{ g() }}{% endmacro %}{% macro g() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}`,
		"caller":          `{% macro f() %}{{ caller() }}{% endmacro %}{% macro g() %}{% call f() %}{{ g() }}{% endcall %}{% endmacro %}{{ g() }}`,
		"recursive loop":  `{% set x = [1] %}{% for a in x recursive %}{{ loop(x) }}{% endfor %}`,
		"replace":         `{{ ('a' * 10000) | replace('a', 'b' * 10000) }}`,
		"replace nothing": `{{ ('a' * 10000) | replace('', 'b' * 10000) }}`,
		"join":            `{{ (['a' * 1000] * 1000) | join('b' * 10000) }}`,
		"indent":          `{{ ('\n' * 10000) | indent(10000, true, true) }}`,
		"json indent":     `{{ [[[1]]] | tojson(indent=9000000) }}`,
		"json indent 2":   `{{ range(1000) | list | tojson(indent='x' * 100000) }}`,
		"justify":         `{{ 'a'.ljust(1000000000) }}`,
		"format":          `{{ '%999999999d' % 3 }}`,
		"center":          `{{ 'a' | center(1000000000) }}`,
		"text":            `{% for i in range(10000) %}` + strings.Repeat("x", 10000) + `{% endfor %}`,
		"output":          `{% set s = 'x' * 10000 %}{% for i in range(10000) %}{{ s }}{% endfor %}`,
		"capture":         `{% set s = 'x' * 10000 %}{% set b %}{% for i in range(10000) %}{{ s }}{% endfor %}{% endset %}`,
		"strftime":        `{% set s = '%c' * 100000 %}{% for i in range(1000) %}{{ strftime_now(s) }}{% endfor %}`,
	} {
		t.Run(name, func(t *testing.T) {
			tpl, err := Parse(src)
			if err != nil {
				t.Fatal(err)
			}
			text, err := tpl.Render(context.Background(), nil, time.Time{}, limits)
			var own *Error
			if !errors.As(err, &own) {
				t.Fatalf("%d bytes, error %v", len(text), err)
			}
			if name != "range" && name != "range overflow" && name != "power" && name != "format" && !errors.Is(err, ErrLimit) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A source that nests or chains without end is a syntax error.
func TestHostileSource(t *testing.T) {
	for name, src := range map[string]string{
		"brackets": "{{ " + strings.Repeat("(", 100_000) + "1" + strings.Repeat(")", 100_000) + " }}",
		"lists":    "{{ " + strings.Repeat("[", 100_000),
		"nots":     "{{ " + strings.Repeat("not ", 100_000) + "1 }}",
		"signs":    "{{ " + strings.Repeat("- ", 100_000) + "1 }}",
		"sum":      "{{ 1" + strings.Repeat("+1", 100_000) + " }}",
		"or":       "{{ 1" + strings.Repeat(" or 1", 100_000) + " }}",
		"filters":  "{{ 1" + strings.Repeat("|e", 100_000) + " }}",
		"attrs":    "{{ x" + strings.Repeat(".y", 100_000) + " }}",
		"elses":    "{{ 1" + strings.Repeat(" if 1 else 1", 50_000) + " }}",
		"ifs":      strings.Repeat("{% if 1 %}", 50_000),
		"targets":  "{% set " + strings.Repeat("(", 100_000),
		"size":     strings.Repeat("x", maxSource+1),
	} {
		var syntax *SyntaxError
		if _, err := Parse(src); !errors.As(err, &syntax) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestContext(t *testing.T) {
	tpl, err := Parse(`{% for a in range(90000) %}{% for b in range(90000) %}{% endfor %}{% endfor %}`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := tpl.Render(ctx, nil, time.Time{}, Limits{Steps: 1 << 40}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func FuzzRender(f *testing.F) {
	for _, src := range []string{
		`{% for m in messages %}{{ m.role ~ loop.index }}{% if not loop.last %},{% endif %}{% else %}-{% endfor %}`,
		`{%- set ns = namespace(a=1) -%}{% set ns.a = 'x'[::-1] %}{{ ns.a|upper }}{% macro f(x, y=2) %}{{ x }}{{ kwargs }}{% endmacro %}{{ f(1, z=3) }}`,
		`{{ {'a': [1, 2.5, none]}|tojson(indent=2) }}{# c #}{% raw %}{{{% endraw %}{{ "%s" % 'é' }}{{ (1 if x else 2) in [1] }}`,
		`{{ 'a b'.split()[0] }}{{ messages[-1]['content']|trim|length }}{{ 'x'|indent(2) }}{{ range(3)|map('string')|join('/') }}`,
		"{%- call f() -%}{%- endcall -%}", "{{'\xa9'[0]}}", "{{ 1 // 0 }}{{ -9223372036854775807 - 5 }}{{ 'é'[0:99:-2] }}",
	} {
		f.Add(src)
	}
	m := &Dict{}
	m.Set("role", "user")
	m.Set("content", " héllo ")
	vars := Vars{"messages": &List{Items: []any{m}}, "x": true}
	f.Fuzz(func(t *testing.T, src string) {
		tpl, err := Parse(src)
		var syntax *SyntaxError
		if err != nil {
			if !errors.As(err, &syntax) {
				t.Fatal(err)
			}
			return
		}
		tpl.LoopsOver("content")
		_, err = tpl.Render(context.Background(), vars, time.Unix(0, 0).UTC(), Limits{Steps: 20_000, Bytes: 1 << 20, Depth: 50})
		var own *Error
		if err != nil && (!errors.As(err, &own) || strings.HasPrefix(own.What, internal)) {
			t.Fatal(err)
		}
	})
}
