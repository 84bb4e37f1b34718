package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// Kubernetes' own types, as far as the manifests use them. Decoding is strict, so a
// field that is mistyped, or stands at another place, is an error.
type (
	kubeMeta struct {
		Name                string
		Labels, Annotations map[string]string
	}
	KubeObject struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   kubeMeta
	}
	kubeSelector struct {
		MatchLabels map[string]string `yaml:"matchLabels"`
	}
	kubeConfigMap struct {
		KubeObject `yaml:",inline"`
		Data       map[string]string
	}
	kubeDeployment struct {
		KubeObject `yaml:",inline"`
		Spec       struct {
			Replicas int32
			Selector kubeSelector
			Strategy struct {
				Type          string
				RollingUpdate struct {
					MaxSurge       int `yaml:"maxSurge"`
					MaxUnavailable int `yaml:"maxUnavailable"`
				} `yaml:"rollingUpdate"`
			}
			Template struct {
				Metadata kubeMeta
				Spec     kubePod
			}
		}
	}
	kubePod struct {
		Grace    int64 `yaml:"terminationGracePeriodSeconds"`
		Token    *bool `yaml:"automountServiceAccountToken"`
		Security struct {
			NonRoot bool  `yaml:"runAsNonRoot"`
			User    int64 `yaml:"runAsUser"`
			Group   int64 `yaml:"fsGroup"`
			Seccomp struct {
				Type string
			} `yaml:"seccompProfile"`
		} `yaml:"securityContext"`
		Containers []kubeContainer
		Volumes    []struct {
			Name   string
			Secret struct {
				Name string `yaml:"secretName"`
				Mode int32  `yaml:"defaultMode"`
			}
		}
	}
	kubeContainer struct {
		Name, Image string
		Args        []string
		EnvFrom     []struct {
			ConfigMap struct{ Name string } `yaml:"configMapRef"`
		} `yaml:"envFrom"`
		Env   []struct{ Name, Value string }
		Ports []struct {
			Name string
			Port int32 `yaml:"containerPort"`
		}
		Lifecycle struct {
			PreStop struct {
				Sleep struct{ Seconds int64 }
			} `yaml:"preStop"`
		}
		Startup   kubeProbe `yaml:"startupProbe"`
		Liveness  kubeProbe `yaml:"livenessProbe"`
		Readiness kubeProbe `yaml:"readinessProbe"`
		Resources struct{ Requests, Limits map[string]string }
		Security  struct {
			Escalation   *bool `yaml:"allowPrivilegeEscalation"`
			ReadOnly     bool  `yaml:"readOnlyRootFilesystem"`
			Capabilities struct{ Drop []string }
		} `yaml:"securityContext"`
		Mounts []struct {
			Name     string
			Path     string `yaml:"mountPath"`
			ReadOnly bool   `yaml:"readOnly"`
		} `yaml:"volumeMounts"`
	}
	kubeProbe struct {
		Get       struct{ Path, Port string } `yaml:"httpGet"`
		Period    int32                       `yaml:"periodSeconds"`
		Timeout   int32                       `yaml:"timeoutSeconds"`
		Threshold int32                       `yaml:"failureThreshold"`
	}
	kubeService struct {
		KubeObject `yaml:",inline"`
		Spec       struct {
			Selector map[string]string
			Ports    []struct {
				Name       string
				Port       int32
				TargetPort string `yaml:"targetPort"`
			}
		}
	}
	kubeBudget struct {
		KubeObject `yaml:",inline"`
		Spec       struct {
			Available int32 `yaml:"minAvailable"`
			Selector  kubeSelector
		}
	}
)

var kubeKinds = map[string]func() any{
	"v1 ConfigMap": func() any { return &kubeConfigMap{} }, "apps/v1 Deployment": func() any { return &kubeDeployment{} },
	"v1 Service": func() any { return &kubeService{} }, "policy/v1 PodDisruptionBudget": func() any { return &kubeBudget{} },
}

// manifests decodes a file of them, strictly.
func manifests(text []byte) (all []any, err error) {
	for _, part := range bytes.Split(text, []byte("\n---\n")) {
		var o KubeObject
		if err := yaml.Unmarshal(part, &o); err != nil {
			return nil, err
		}
		kind := kubeKinds[o.APIVersion+" "+o.Kind]
		if kind == nil {
			return nil, &os.PathError{Op: "decode", Path: o.APIVersion + " " + o.Kind, Err: os.ErrInvalid}
		}
		into := kind()
		if err := yaml.NewDecoder(bytes.NewReader(part), yaml.Strict()).Decode(into); err != nil && err != io.EOF {
			return nil, err
		}
		all = append(all, into)
	}
	return all, nil
}

// The manifests are what Kubernetes reads, and what seckill serve takes.
func TestKubernetes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "deploy/kubernetes/seckill.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := manifests(text)
	if err != nil || len(all) != 4 {
		t.Fatalf("%d objects, %v", len(all), err)
	}
	config, deployment := all[0].(*kubeConfigMap), all[1].(*kubeDeployment)
	service, budget := all[2].(*kubeService), all[3].(*kubeBudget)
	pod := deployment.Spec.Template
	c := pod.Spec.Containers[0]
	if err := accepted(append(slices.Clone(c.Args), "--sqlite-path=x")); err != nil {
		t.Errorf("seckill %s: %v", strings.Join(c.Args, " "), err)
	}
	variables := variablesOfServe(t)
	names := slices.Collect(func(yield func(string) bool) {
		for name := range config.Data {
			if !yield(name) {
				return
			}
		}
	})
	for _, v := range c.Env {
		names = append(names, v.Name)
		if !strings.HasPrefix(v.Value, c.Mounts[0].Path+"/") {
			t.Errorf("%s is %s, which is not mounted", v.Name, v.Value)
		}
	}
	for _, name := range names {
		if !variables[name] {
			t.Errorf("seckill serve does not read %s", name)
		}
	}
	for what, labels := range map[string]map[string]string{"the deployment": deployment.Spec.Selector.MatchLabels,
		"the service": service.Spec.Selector, "the budget": budget.Spec.Selector.MatchLabels} {
		if len(labels) == 0 || pod.Metadata.Labels["app"] != labels["app"] {
			t.Errorf("%s selects %v, the pods have %v", what, labels, pod.Metadata.Labels)
		}
	}
	for _, p := range []kubeProbe{c.Startup, c.Liveness, c.Readiness} {
		if p.Get.Port != c.Ports[0].Name || p.Get.Path != "/healthz" && p.Get.Path != "/readyz" {
			t.Errorf("a probe of %+v", p)
		}
	}
	if c.Readiness.Get.Path == c.Liveness.Get.Path {
		t.Error("a process whose database is away would be killed")
	}
	if c.EnvFrom[0].ConfigMap.Name != config.Metadata.Name || service.Spec.Ports[0].TargetPort != c.Ports[0].Name || pod.Spec.Volumes[0].Name != c.Mounts[0].Name {
		t.Error("a name leads nowhere")
	}
	const shutdown = 15 // --shutdown-timeout
	if pod.Spec.Grace < shutdown+c.Lifecycle.PreStop.Sleep.Seconds {
		t.Errorf("it is killed after %d s: before its shutdown can end", pod.Spec.Grace)
	}
	if pod.Spec.Volumes[0].Secret.Mode&0o007 != 0 {
		t.Error("others may read the secrets: the service refuses them")
	}
	for _, wrong := range []string{strings.Replace(string(text), "replicas:", "replica:", 1),
		strings.Replace(string(text), "readinessProbe:", "readynessProbe:", 1), strings.Replace(string(text), "kind: Service", "kind: Servce", 1)} {
		if _, err := manifests([]byte(wrong)); err == nil {
			t.Error("what is mistyped is decoded")
		}
	}
}

// variablesOfServe are what seckill serve reads from the environment.
func variablesOfServe(t *testing.T) map[string]bool {
	t.Helper()
	variables := map[string]bool{}
	for _, f := range flagsOf(t, &ServeCmd{}) {
		for _, name := range f.Envs {
			variables[name] = true
		}
	}
	return variables
}

// The compose files set what seckill serve reads. Whether they are valid, with the
// topologies' overrides, deploy/compose/strict tests by the library of docker compose.
func TestVariablesOfCompose(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "deploy/compose/*.yaml"))
	if err != nil || len(files) < 6 {
		t.Fatalf("%v, %v", files, err)
	}
	variables := variablesOfServe(t)
	for _, file := range append(files, filepath.Join(root, "docker-compose.yml")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`SECKILL_[A-Z_]+`).FindAllString(string(text), -1) {
			if !variables[name] {
				t.Errorf("%s sets %s, which seckill serve does not read", file, name)
			}
		}
	}
}
