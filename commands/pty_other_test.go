//go:build !linux

package commands

import "github.com/rogpeppe/go-internal/testscript"

// cmdExpect needs a terminal to be made, which each system does its own way:
// scripts that use it say [!linux] skip.
func cmdExpect(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("there is no expect on this system")
}
