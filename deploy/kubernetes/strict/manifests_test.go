// Package strict decodes the manifests into Kubernetes' own types. It is a module of
// its own: their 64 MB are for this test alone, and no user of the program loads them.
package strict

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// kinds are what the manifests may contain.
var kinds = map[string]func() any{
	"v1 ConfigMap":                  func() any { return &core.ConfigMap{} },
	"v1 Service":                    func() any { return &core.Service{} },
	"apps/v1 Deployment":            func() any { return &apps.Deployment{} },
	"policy/v1 PodDisruptionBudget": func() any { return &policy.PodDisruptionBudget{} },
}

func decode(text []byte) (all []any, err error) {
	for _, part := range bytes.Split(text, []byte("\n---\n")) {
		var about struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal(part, &about); err != nil {
			return nil, err
		}
		kind := kinds[about.APIVersion+" "+about.Kind]
		if kind == nil {
			return nil, fmt.Errorf("%s %s is no kind of the manifests", about.APIVersion, about.Kind)
		}
		into := kind()
		if err := yaml.UnmarshalStrict(part, into); err != nil {
			return nil, fmt.Errorf("%s: %w", about.Kind, err)
		}
		all = append(all, into)
	}
	return all, nil
}

func TestManifestsAreKubernetes(t *testing.T) {
	text, err := os.ReadFile("../seckill.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	deployments := 0
	for _, o := range all {
		d, ok := o.(*apps.Deployment)
		if !ok {
			continue
		}
		deployments++
		for _, c := range d.Spec.Template.Spec.Containers {
			if c.Resources.Limits.Memory().IsZero() || c.ReadinessProbe == nil || c.ReadinessProbe.HTTPGet == nil {
				t.Errorf("%s has no limit of memory, or is never asked whether it is ready", c.Name)
			}
		}
	}
	if len(all) != len(kinds) || deployments != 1 {
		t.Errorf("%d objects, %d deployments", len(all), deployments)
	}

	t.Log("what is mistyped, at another place, or of another type is refused")
	for what, change := range map[string][2]string{
		"a field":       {"replicas:", "replica:"},
		"a probe":       {"readinessProbe:", "readynessProbe:"},
		"a kind":        {"kind: Service", "kind: Servce"},
		"a version":     {"apiVersion: policy/v1", "apiVersion: policy/v2"},
		"a number":      {"replicas: ", "replicas: x"},
		"a field twice": {"kind: Deployment", "kind: Deployment\nkind: Deployment"},
	} {
		wrong := strings.Replace(string(text), change[0], change[1], 1)
		if _, err := decode([]byte(wrong)); err == nil || wrong == string(text) {
			t.Errorf("%s that is wrong is decoded", what)
		}
	}
}
