//go:build programs

// Package programs keeps the programs that scripts/setup.mjs builds in go.mod; it is never compiled itself.
package programs

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kubectl"
)
