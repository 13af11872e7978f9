// Command linearizability decides whether the operations that clients observed on a pool can be explained by a pool that does
// one thing at a time. It reads {"timeoutMs", "pools": [{"pool", "operations"}]} from stdin and writes {"pools": [Verdict]}
// to stdout.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// Verdict on one pool: "ok", "illegal", or "unknown" when the check timed out.
type Verdict struct {
	Pool       string `json:"pool"`
	Verdict    string `json:"verdict"`
	Operations int    `json:"operations"`
	Ms         int64  `json:"ms"`
	// Only with "illegal": operations that no order can explain, the earliest first, as far as the search came.
	Stuck []Operation `json:"stuck,omitempty"`
}

type request struct {
	TimeoutMs int64 `json:"timeoutMs"`
	Pools     []struct {
		Pool       string      `json:"pool"`
		Operations []Operation `json:"operations"`
	} `json:"pools"`
}

// How many unexplained operations of an illegal pool are printed.
const shown = 5

// stuckAfter returns the earliest operations that are not in the longest explanation. Client ids are indexes into the history.
func stuckAfter(info porcupine.LinearizationInfo, history []porcupine.Operation) []Operation {
	explained := map[int]bool{}
	for _, partition := range info.PartialLinearizationsOperations() {
		var longest []porcupine.Operation
		for _, partial := range partition {
			if len(partial) > len(longest) {
				longest = partial
			}
		}
		for _, operation := range longest {
			explained[operation.ClientId] = true
		}
	}
	left := []Operation{}
	for _, operation := range history {
		if !explained[operation.ClientId] {
			left = append(left, operation.Input.(input).operation)
		}
	}
	slices.SortFunc(left, func(a, b Operation) int { return int(a.Return - b.Return) })
	return left[:min(shown, len(left))]
}

func checkPool(name string, operations []Operation, timeout time.Duration) Verdict {
	start := time.Now()
	model, history := prepare(operations)
	result := porcupine.CheckOperationsTimeout(model, history, timeout)
	verdict := Verdict{Pool: name, Verdict: "ok", Operations: len(operations)}
	switch result {
	case porcupine.Unknown:
		verdict.Verdict = "unknown"
	case porcupine.Illegal:
		verdict.Verdict = "illegal"
		// Partial explanations are expensive, so ask for them only after an illegal result.
		_, info := porcupine.CheckOperationsVerbose(model, history, timeout)
		verdict.Stuck = stuckAfter(info, history)
	}
	verdict.Ms = time.Since(start).Milliseconds()
	return verdict
}

func run() error {
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return fmt.Errorf("reading the request: %w", err)
	}
	verdicts := []Verdict{}
	for _, one := range asked.Pools {
		verdicts = append(verdicts, checkPool(one.Pool, one.Operations, time.Duration(asked.TimeoutMs)*time.Millisecond))
	}
	return json.NewEncoder(os.Stdout).Encode(map[string][]Verdict{"pools": verdicts})
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "linearizability:", err)
		os.Exit(1)
	}
}
