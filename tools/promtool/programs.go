//go:build programs

// Package programs keeps the program that scripts/setup.mjs builds in go.mod; it is never compiled itself.
package programs

import _ "github.com/prometheus/prometheus/cmd/promtool"
