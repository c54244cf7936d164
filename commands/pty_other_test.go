//go:build !linux

package commands

import "github.com/rogpeppe/go-internal/testscript"

// cmdExpect needs a pseudo-terminal, which is system-specific: scripts that use it
// contain [!linux] skip.
func cmdExpect(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("there is no expect on this system")
}
