package bundle

import (
	"bytes"
	_ "embed"
	"path/filepath"
	"text/template"

	"reprise/trace/spec"
)

//go:embed readme.txt.tmpl
var readmeText string

// readmeData is what README.txt is made from.
type readmeData struct {
	Revision int
	Files    []spec.Artifact
	Signers  []signerData
}

type signerData struct{ Role, Principal, Namespace, File string }

// writeReadme says how to check the bundle with tools that people have. It is
// written last, since it lists the hash of the spec; nobody signs for it.
func writeReadme(dir string, s *spec.Spec) error {
	entry, err := digest(filepath.Join(dir, SpecFile), SpecFile)
	if err != nil {
		return err
	}
	data := readmeData{Revision: s.Revision, Files: append([]spec.Artifact{entry}, s.Artifacts...), Signers: signersOf(s)}
	t, err := template.New(ReadmeFile).Parse(readmeText)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return err
	}
	return createBytes(filepath.Join(dir, ReadmeFile), b.Bytes())
}

func signersOf(s *spec.Spec) []signerData {
	var out []signerData
	for _, a := range s.Approvals {
		namespace, err := Namespace(a.Role)
		if err != nil {
			continue // Validate knows the roles
		}
		out = append(out, signerData{a.Role, a.Principal, namespace, SignatureFile(a.Role)})
	}
	return out
}
