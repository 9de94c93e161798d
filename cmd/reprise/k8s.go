package main

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// k8sFlags ask for a manifest instead of a run.
type k8sFlags struct {
	machines int
	image    string
	claim    string
	name     string
	secret   string
}

func (o *k8sFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.IntVar(&o.machines, "k8s", 0, "send nothing: print the Kubernetes Indexed Job that makes this run with so many client machines")
	f.StringVar(&o.image, "k8s-image", "", "image that holds reprise, for --k8s")
	f.StringVar(&o.claim, "k8s-claim", "reprise-data", "volume claim with the files of the run, for its results too (ReadWriteMany)")
	f.StringVar(&o.name, "k8s-name", "reprise", "name of the job")
	f.StringVar(&o.secret, "k8s-secret", "reprise", "secret whose keys become environment variables, such as REPRISE_API_KEY")
}

//go:embed k8s-job.yaml.tmpl
var jobTemplate string

// job is what the manifest is made of.
type job struct {
	Name, Image, Claim, Secret string
	Machines                   int
	Args                       []string
	Files                      []string // that must lie in the volume
	Merge                      string
}

// startIn is what the pods of a job get to be scheduled and ready.
const startIn = 5 * time.Minute

var dnsLabel = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,50}[a-z0-9])?$`)

// manifest prints the job that makes the run of c on several machines.
func (o *shardFlags) manifest(s *stdio, c *cobra.Command, tracePath string) error {
	k := &o.k8s
	switch {
	case k.machines < 1 || k.machines > 1000:
		return usagef("--k8s is a number of client machines, 1 to 1000")
	case k.image == "":
		return usagef("--k8s needs --k8s-image: the image that holds reprise")
	case o.shard != "":
		return usagef("--k8s makes the shards itself: leave --shard out")
	case !dnsLabel.MatchString(k.name):
		return usagef("--k8s-name is a DNS label: lower-case letters, digits and -, 52 at most")
	}
	if levels, err := c.Flags().GetIntSlice("concurrency"); err == nil && (len(levels) > 1 || len(levels) == 1 && levels[0] < k.machines) {
		return usagef("--k8s shares out one --concurrency, at least one request under way for each machine")
	}
	if o.startAt == "" {
		o.startAt = time.Now().Add(startIn + time.Minute).UTC().Truncate(time.Minute).Format(time.RFC3339)
	}
	if err := o.parse(time.Now()); err != nil {
		return err
	}
	j := job{Name: k.name, Image: k.image, Claim: k.claim, Secret: k.secret, Machines: k.machines}
	j.Args = append(j.Args, "replay", j.inVolume(tracePath))
	c.Flags().Visit(func(f *pflag.Flag) { j.take(f) })
	j.Args = append(j.Args, "--start-at="+o.startAt, "--shard=$(SHARD)/"+strconv.Itoa(k.machines), "--output=/data/"+k.name+"-$(SHARD)")
	j.Merge = "reprise report"
	for i := range k.machines {
		if i == 3 && k.machines > 4 {
			j.Merge += " ..."
			break
		}
		j.Merge += " " + k.name + "-" + strconv.Itoa(i)
	}
	var b strings.Builder
	t, err := template.New("job").Funcs(template.FuncMap{"q": quote}).Parse(jobTemplate)
	if err != nil {
		return err
	}
	if err := t.Execute(&b, j); err != nil {
		return err
	}
	return s.writeBytes("", []byte(b.String()))
}

// take adds a flag of the command line.
func (j *job) take(f *pflag.Flag) {
	if strings.HasPrefix(f.Name, "k8s") || slices.Contains([]string{"output", "start-at", "shard", "quiet", "no-progress"}, f.Name) {
		return
	}
	values := []string{f.Value.String()}
	if v, ok := f.Value.(pflag.SliceValue); ok {
		if values = v.GetSlice(); f.Value.Type() == "intSlice" {
			values = []string{strings.Join(values, ",")}
		}
	}
	for _, v := range values {
		if slices.Contains([]string{"spec", "ca", "client-cert", "client-key", "api-key-file"}, f.Name) || f.Name == "tokenizer" && strings.ContainsAny(v, `/\`) {
			v = j.inVolume(v)
		}
		if name, path, ok := strings.Cut(v, "=file:"); ok && f.Name == "header" {
			v = name + "=file:" + j.inVolume(path)
		}
		if path, ok := strings.CutPrefix(v, "file:"); ok && f.Name == "extra" {
			v = "file:" + j.inVolume(path)
		}
		// Kubernetes would fill in $(VARIABLE).
		j.Args = append(j.Args, "--"+f.Name+"="+strings.ReplaceAll(v, "$(", "$$("))
	}
}

// inVolume is where a file lies in the volume of the job.
func (j *job) inVolume(path string) string {
	name := lastOf(path)
	if !slices.Contains(j.Files, name) {
		j.Files = append(j.Files, name)
	}
	return "/data/" + name
}

// quote writes a value as YAML does that takes JSON.
func quote(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil { // strings and integers always encode
		return `""`
	}
	return strings.TrimSpace(b.String())
}
