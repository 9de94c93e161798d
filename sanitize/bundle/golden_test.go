package bundle

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"reprise/trace/sign"
	"reprise/trace/strictjson"
)

var update = flag.Bool("update", false, "write the golden files anew, with new keys")

const vectors = "../../testdata/vectors/v1"

// The golden bundle is version 1 for good: later builds must read and verify
// it. Its private keys were thrown away.
func TestGoldenBundle(t *testing.T) {
	dir, list := filepath.Join(vectors, "bundle"), filepath.Join(vectors, "bundle.allowed_signers")
	if *update {
		writeGolden(t, dir, list)
	}
	data, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	signers, err := sign.ParseAllowedSigners(data)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if r := b.Verify(signers, noon, nil); !r.OK || len(r.Signed) != 2 {
		t.Errorf("%+v", r)
	}
	a := auditOf(t, b)
	if a.Profile != "exact" || a.Reident.Rows != 60 {
		t.Errorf("%+v", a)
	}
	if again, err := Open(packedFile(t, dir)); err != nil {
		t.Error(err)
	} else {
		defer again.Close()
		if r := again.Verify(signers, noon, nil); !r.OK {
			t.Errorf("packed: %+v", r)
		}
	}
}

func packedFile(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "b.tar.zst")
	overwrite(t, path, packed(t, dir))
	return path
}

func writeGolden(t *testing.T, dir, list string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, input(sampleTrace(1, 60), "exact")); err != nil {
		t.Fatal(err)
	}
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	customer, vendor, _ := parties(t)
	signAs(t, b, customer, vendor)
	overwrite(t, list, []byte(customer.allowed(t, "")+vendor.allowed(t, "")))
}

// Stock ssh-keygen verifies the golden bundle too.
func TestGoldenBundleStock(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed: the golden signatures are not checked with it")
	}
	list, err := filepath.Abs(filepath.Join(vectors, "bundle.allowed_signers"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(vectors, "bundle", SpecFile))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("ssh-keygen", "-Y", "verify", "-f", list, "-I", "alice@customer.example",
		"-n", CustomerNamespace, "-s", SignatureFile(Customer))
	cmd.Dir, cmd.Stdin = filepath.Join(vectors, "bundle"), bytes.NewReader(raw)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

const goldenAudit = vectors + "/sample.audit.json"

// The golden audit uses every key of the format.
func TestGoldenAudit(t *testing.T) {
	if *update {
		a := sampleAudit()
		raw, err := strictjson.Encode(a)
		if err != nil {
			t.Fatal(err)
		}
		overwrite(t, goldenAudit, raw)
	}
	data, err := os.ReadFile(goldenAudit)
	if err != nil {
		t.Fatal(err)
	}
	a, err := DecodeAudit(data)
	if err != nil {
		t.Fatal(err)
	}
	want, err := strictjson.Encode(sampleAudit())
	if err != nil {
		t.Fatal(err)
	}
	got, err := strictjson.Encode(a)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("reads as %s, error %v", got, err)
	}
}

func sampleAudit() *Audit {
	clients := int64(12)
	return &Audit{Kind: AuditKind, Version: AuditVersion, Tool: tool, Profile: "exact", K: 20, U: 5,
		UserRule: "u checked: the log names 12 clients", Calendar: "hour_of_week",
		Files:    []AuditFileEntry{{TraceFile, 1234, sourceHash, 60}},
		Fields:   []Field{{TraceFile, "input_tokens", "int32", 60, 55, 1}, {SpecFile, "workload.lengths.input.mean.value", "number", 1, 1, 0}},
		Reident:  Reident{60, 0.983333, 1, 60, 26, 9},
		Counts:   AuditCounts{67, 60, map[string]int64{"bad_time": 4}, map[string]int64{"other": 3}, &clients},
		HeldBack: []string{"workload.lengths.input.sd: one request can move it"}, Searched: []Search{{"client numbers", TraceFile, 0}},
		NotSearched: []Gap{{"images", "no detector reads them"}}, Statement: []string{"No row leaves."}}
}

func TestDecodeAuditRefuses(t *testing.T) {
	good, err := strictjson.Encode(sampleAudit())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{`"version": 1`, `"version": 2`}, {`"kind": "reprise.audit"`, `"kind": "x"`}, {`"k": 20`, `"k": 0`},
		{`"rows": 60,`, `"rows": -60,`}, {`0.983333`, `1.5`}, {`  "u": 5`, `  "u": 5,` + "\n" + `  "u": 5`}, {`"u": 5`, `"u": 5, "v": 1`}, {"\n", "\n\n"}} {
		bad := bytes.Replace(good, []byte(c[0]), []byte(c[1]), 1)
		if bytes.Equal(bad, good) {
			t.Fatalf("%q is not in the sample", c[0])
		}
		if _, err := DecodeAudit(bad); err == nil {
			t.Errorf("%q in place of %q is read", c[1], c[0])
		}
	}
}

func FuzzDecodeAudit(f *testing.F) {
	good, err := strictjson.Encode(sampleAudit())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"kind":"reprise.audit"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := DecodeAudit(data)
		if err != nil {
			return
		}
		again, err := strictjson.Encode(a)
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("read, but written otherwise: %v", err)
		}
	})
}
