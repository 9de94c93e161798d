package notation

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/valyala/fastjson"
)

// What Python itself gives for json.dumps(ast.literal_eval(s)), and for values
// that are no literals what stands there.
func TestPyValue(t *testing.T) {
	for in, want := range map[string]string{
		`'it'`:                      `"it"`,
		`"it's"`:                    `"it's"`,
		`'a\'b"c\\d\n\t\x41\u00e9'`: `"a'b\"c\\d\n\tA\u00e9"`,
		`'\ud83d\ude00'`:            `"\ud83d\ude00"`,
		`'\U0001f600'`:              `"\ud83d\ude00"`,
		`'\ud83d'`:                  `"\ufffd"`,
		`b'x'`:                      `"x"`,
		`[1, -2.5, 1e3, 1_000]`:     `[1,-2.5,1000,1000]`,
		`(1,)`:                      `[1]`,
		`()`:                        `[]`,
		`{}`:                        `{}`,
		`{1, 2}`:                    `[1,2]`,
		`{41: 0.98, 'a': None}`:     `{"41":0.98,"a":null}`,
		`[True, False, None]`:       `[true,false,null]`,
		`[nan, inf, -inf]`:          `[null,null,null]`,
		`SamplingParams(n=1, stop=['a, b', ')'], seed=None)`:                 `{"n":1,"stop":["a, b",")"],"seed":null}`,
		`LoRARequest('sql', 1, lora_path='/x')`:                              `{"0":"sql","1":1,"lora_path":"/x"}`,
		`<RequestOutputKind.DELTA: 1>`:                                       `"RequestOutputKind.DELTA: 1"`,
		`SamplingParams(output_kind=<RequestOutputKind.CUMULATIVE: 0>, n=2)`: `{"output_kind":"RequestOutputKind.CUMULATIVE: 0","n":2}`,
		`torch.float16`:       `"torch.float16"`,
		`'head' ... 'tail'`:   `"head...<truncated>...tail"`,
		`[1, 2] ... [8, 9]`:   `null`,
		`[{'a': (1, 2)}, []]`: `[{"a":[1,2]},[]]`,
		`'\0\a'`:              `"\u0000\u0007"`,
		`9223372036854775808`: `9223372036854775808`,
	} {
		got, ok := Python(nil, in)
		var a, b any
		if !ok || json.Unmarshal(got, &a) != nil || json.Unmarshal([]byte(want), &b) != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%s gives %s, %v; want %s", in, got, ok, want)
		}
	}
	for _, in := range []string{"", "'open", `'\`, `'\u12`, "[1", "[1 2]", "{1: 2, 3}", "{1, 2: 3}", "f(", "f(a=)", "<x", "1 2", "lambda: 1", "@", strings.Repeat("[", 1000)} {
		if got, ok := Python(nil, in); ok {
			t.Errorf("%q gives %s and should not be read", in, got)
		}
	}
}

func TestPyFields(t *testing.T) {
	in := `prompt: 'a, b: c', params: SamplingParams(n=1, max_tokens=100), prompt_token_ids: [1, 2], prompt_embeds shape: None, lora_request: LoRARequest(lora_name='sql', lora_int_id=1), finish_reason: stop, nothing: None.`
	got, ok := PythonFields(nil, in)
	if !ok {
		t.Fatal(string(got))
	}
	v := fastjson.MustParseBytes(got)
	for path, want := range map[string]string{"prompt": "a, b: c", "params.max_tokens": "100", "prompt_token_ids": "[1,2]",
		"lora_request.lora_name": "sql", "finish_reason": "stop"} {
		if got := Lookup(v, path); got == nil || Text(got) != want {
			t.Errorf("%s: %v, want %s", path, got, want)
		}
	}
	if Lookup(v, "prompt_embeds shape") != nil || Lookup(v, "nothing") != nil {
		t.Error("None is a value")
	}
}

// Whatever comes in, what comes out is JSON, and reading it again changes nothing.
func FuzzPyValue(f *testing.F) {
	for _, s := range []string{`{'a': [1, 2.5, None], 'b': "x\ny"}`, `f(a='b', 3, c=<X.Y: 1>)`, `'a' ... 'b'`, `[1] ... [2]`, `'\ud83d\ude00\x00'`, `{1, 'two'}`, `-1e-9`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, read := range []func([]byte, string) ([]byte, bool){Python, PythonFields} {
			got, ok := read([]byte("x"), s)
			if !ok {
				continue
			}
			if got[0] != 'x' || fastjson.ValidateBytes(got[1:]) != nil {
				t.Fatalf("%q gives %q", s, got)
			}
		}
	})
}
