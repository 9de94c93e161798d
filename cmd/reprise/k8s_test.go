package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"reprise/trace/strictyaml"
)

// indexedJob is what batch/v1 has of a Job as we write it, by the API reference
// of Kubernetes (batch/v1 Job, core/v1 PodSpec): an unknown key fails the test,
// and so does a value of the wrong kind.
type indexedJob struct {
	APIVersion string    `yaml:"apiVersion"`
	Kind       string    `yaml:"kind"`
	Metadata   objectKey `yaml:"metadata"`
	Spec       struct {
		CompletionMode string `yaml:"completionMode"`
		Completions    int32  `yaml:"completions"`
		Parallelism    int32  `yaml:"parallelism"`
		BackoffLimit   int32  `yaml:"backoffLimit"`
		Template       struct {
			Metadata objectKey `yaml:"metadata"`
			Spec     podSpec   `yaml:"spec"`
		} `yaml:"template"`
	} `yaml:"spec"`
}

type objectKey struct {
	Name   string            `yaml:"name"`
	Labels map[string]string `yaml:"labels"`
}

type podSpec struct {
	RestartPolicy string `yaml:"restartPolicy"`
	Affinity      struct {
		PodAntiAffinity struct {
			Required []struct {
				TopologyKey   string `yaml:"topologyKey"`
				LabelSelector struct {
					MatchLabels map[string]string `yaml:"matchLabels"`
				} `yaml:"labelSelector"`
			} `yaml:"requiredDuringSchedulingIgnoredDuringExecution"`
		} `yaml:"podAntiAffinity"`
	} `yaml:"affinity"`
	Containers []struct {
		Name    string   `yaml:"name"`
		Image   string   `yaml:"image"`
		Command []string `yaml:"command"`
		Args    []string `yaml:"args"`
		Env     []struct {
			Name      string `yaml:"name"`
			ValueFrom struct {
				FieldRef struct {
					FieldPath string `yaml:"fieldPath"`
				} `yaml:"fieldRef"`
			} `yaml:"valueFrom"`
		} `yaml:"env"`
		EnvFrom []struct {
			SecretRef struct {
				Name     string `yaml:"name"`
				Optional bool   `yaml:"optional"`
			} `yaml:"secretRef"`
		} `yaml:"envFrom"`
		Resources struct {
			Requests map[string]string `yaml:"requests"`
			Limits   map[string]string `yaml:"limits"`
		} `yaml:"resources"`
		VolumeMounts []struct {
			Name      string `yaml:"name"`
			MountPath string `yaml:"mountPath"`
		} `yaml:"volumeMounts"`
	} `yaml:"containers"`
	Volumes []struct {
		Name  string `yaml:"name"`
		Claim struct {
			ClaimName string `yaml:"claimName"`
		} `yaml:"persistentVolumeClaim"`
	} `yaml:"volumes"`
}

// rendered runs replay --k8s in process.
func rendered(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	s := &stdio{out: &out, err: io.Discard}
	c := newReplay(s)
	c.SetArgs(append([]string{"peak.trace.parquet", "--url", "http://h:8000"}, args...))
	c.SilenceErrors, c.SilenceUsage = true, true
	err := c.ExecuteContext(context.Background())
	return out.String(), err
}

// The manifest is a Job of the schema, whatever the flags hold, and its pods run
// the shards of one run.
func TestJobManifest(t *testing.T) {
	evil := "a\"b: {{.Name}}\n- x #$(HOME)"
	text, err := rendered(t, "--k8s", "4", "--k8s-image", "reg.example/reprise:1", "--start-at", "2999-01-01T00:00:00Z",
		"--slo", "ttft p95 <= 800ms at client", "--slo", "tpot p95 <= 20ms at client", "--region", evil, "--spec", "dir/a.spec.json", "--concurrency", "8", "--for", "1m")
	if err != nil {
		t.Fatal(err)
	}
	var j indexedJob
	if err := strictyaml.Decode([]byte(text), &j); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	pod := j.Spec.Template.Spec
	if j.APIVersion != "batch/v1" || j.Kind != "Job" || j.Metadata.Name != "reprise" || j.Spec.CompletionMode != "Indexed" ||
		j.Spec.Completions != 4 || j.Spec.Parallelism != 4 || j.Spec.BackoffLimit != 0 || pod.RestartPolicy != "Never" || len(pod.Containers) != 1 {
		t.Errorf("%+v", j)
	}
	c := pod.Containers[0]
	if c.Image != "reg.example/reprise:1" || c.Env[0].Name != "SHARD" || c.Env[0].ValueFrom.FieldRef.FieldPath != "metadata.annotations['batch.kubernetes.io/job-completion-index']" {
		t.Errorf("%+v", c)
	}
	for _, want := range []string{"/data/peak.trace.parquet", "--url=http://h:8000", "--shard=$(SHARD)/4", "--start-at=2999-01-01T00:00:00Z", "--output=/data/reprise-$(SHARD)",
		"--slo=ttft p95 <= 800ms at client", "--slo=tpot p95 <= 20ms at client", "--spec=/data/a.spec.json", "--concurrency=8", "--for=1m0s", "--region=" + strings.ReplaceAll(evil, "$(", "$$(")} {
		if !slices.Contains(c.Args, want) {
			t.Errorf("no argument %q in %q", want, c.Args)
		}
	}
	for _, m := range c.VolumeMounts {
		if m.Name != pod.Volumes[0].Name || m.MountPath != "/data" || pod.Volumes[0].Claim.ClaimName != "reprise-data" {
			t.Errorf("%+v %+v", m, pod.Volumes)
		}
	}
	run := pod.Affinity.PodAntiAffinity.Required[0].LabelSelector.MatchLabels["reprise/run"]
	if run == "" || j.Spec.Template.Metadata.Labels["reprise/run"] != run || fmt.Sprint(c.Resources.Requests) != fmt.Sprint(c.Resources.Limits) {
		t.Error("the pods do not keep apart, or may be throttled")
	}
	for _, bad := range [][]string{{"--k8s", "4"}, {"--k8s", "0x"}, {"--k8s", "-1", "--k8s-image", "i"}, {"--k8s", "2", "--k8s-image", "i", "--k8s-name", "A B"},
		{"--k8s", "2", "--k8s-image", "i", "--concurrency", "2,4"}, {"--k8s", "4", "--k8s-image", "i", "--concurrency", "3"},
		{"--k8s", "2", "--k8s-image", "i", "--shard", "0/2"}, {"--k8s", "2", "--k8s-image", "i", "--start-at", "noon"}} {
		if text, err := rendered(t, bad...); err == nil {
			t.Errorf("%q gave %q", bad, text)
		}
	}
}
