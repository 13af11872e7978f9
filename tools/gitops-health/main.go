// Command gitops-health says of Kubernetes objects what GitOps tools say of them: kstatus, the CEL expressions of Flux' health
// checks, and a health script of Argo CD. It reads {"objects", "expressions", "lua"} from stdin and writes {"objects": [Health]}
// to stdout.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Health of one object.
type Health struct {
	Kstatus string `json:"kstatus"`
	// By the expressions for the object's kind; empty without any.
	Flux string `json:"flux,omitempty"`
	// What the script returns; empty without a script.
	Argo        string `json:"argo,omitempty"`
	ArgoMessage string `json:"argoMessage,omitempty"`
}

type request struct {
	Objects []json.RawMessage `json:"objects"`
	// As in `healthCheckExprs` of a Kustomization.
	Expressions []kustomize.CustomHealthCheck `json:"expressions"`
	Lua         string                        `json:"lua"`
}

func fluxStatus(object *unstructured.Unstructured, checks []kustomize.CustomHealthCheck) (string, error) {
	for _, check := range checks {
		if check.APIVersion != object.GetAPIVersion() || check.Kind != object.GetKind() {
			continue
		}
		evaluator, err := cel.NewStatusEvaluator(&check.HealthCheckExpressions)
		if err != nil {
			return "", err
		}
		result, err := evaluator.Evaluate(context.Background(), object)
		if err != nil {
			// What the expressions read is not there yet: Flux goes on waiting.
			return status.UnknownStatus.String(), nil
		}
		return result.Status.String(), nil
	}
	return "", nil
}

func healthOf(raw json.RawMessage, asked request) (Health, error) {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(raw); err != nil {
		return Health{}, err
	}
	computed, err := status.Compute(object)
	if err != nil {
		return Health{}, fmt.Errorf("kstatus: %w", err)
	}
	flux, err := fluxStatus(object, asked.Expressions)
	if err != nil {
		return Health{}, fmt.Errorf("the expressions: %w", err)
	}
	health := Health{Kstatus: computed.Status.String(), Flux: flux}
	if asked.Lua == "" {
		return health, nil
	}
	if health.Argo, health.ArgoMessage, err = runScript(object.Object, asked.Lua); err != nil {
		return Health{}, fmt.Errorf("the script: %w", err)
	}
	return health, nil
}

func run() error {
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return fmt.Errorf("reading the request: %w", err)
	}
	answers := []Health{}
	for i, raw := range asked.Objects {
		health, err := healthOf(raw, asked)
		if err != nil {
			return fmt.Errorf("object %d: %w", i, err)
		}
		answers = append(answers, health)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string][]Health{"objects": answers})
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gitops-health:", err)
		os.Exit(1)
	}
}
