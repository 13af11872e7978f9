//go:build programs

// Keeps the programs that scripts/setup.mjs builds beside this one in go.mod; it is never compiled itself.
package main

import _ "k8s.io/kubernetes/cmd/kubectl"
