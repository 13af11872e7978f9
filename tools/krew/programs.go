//go:build programs

// Package programs keeps the programs that scripts/setup.mjs builds in go.mod; it is never compiled itself.
package programs

import (
	_ "sigs.k8s.io/krew/cmd/krew"
	_ "sigs.k8s.io/krew/cmd/validate-krew-manifest"
)
