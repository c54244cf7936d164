package main

import (
	_ "embed" // for the expected results
	"fmt"
	"io"
	"strings"
)

//go:embed expected.txt
var expectedText string

// An expectation is a line of expected.txt: the marks of an agent and an event, and the
// reason for missing ones.
type expectation struct{ marks, reason string }

// readExpected parses expected.txt.
func readExpected() (map[[2]string]expectation, error) {
	want := map[[2]string]expectation{}
	n := 0
	for line := range strings.Lines(expectedText) {
		n++
		text, reason, _ := strings.Cut(strings.TrimSpace(line), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 3 {
			return nil, fmt.Errorf("expected.txt, line %d: want AGENT EVENT MARKS", n)
		}
		want[[2]string{fields[0], fields[1]}] = expectation{strings.Trim(fields[2], "-"), strings.TrimSpace(reason)}
	}
	return want, nil
}

// report prints the table, and returns the exit code.
func report(w io.Writer, chosen []*agent, rows []row, versions map[string]string, cells []cell, want map[[2]string]expectation) int {
	found := map[[2]string]cell{}
	for _, c := range cells {
		found[[2]string{c.agent, c.event}] = c
	}
	fmt.Fprintf(w, "F hook ran, S work saved, C context reached the model, R conversation resumed, 1 ran once, - did not\n\n")
	fmt.Fprintf(w, "%-13s", "")
	for _, a := range chosen {
		fmt.Fprintf(w, " %-9s", a.name)
	}
	fmt.Fprintf(w, "\n%-13s", "")
	for _, a := range chosen {
		fmt.Fprintf(w, " %-9s", versions[a.name])
	}
	fmt.Fprintln(w)
	var failures, notes []string
	for _, e := range rows {
		fmt.Fprintf(w, "%-13s", e.name)
		for _, a := range chosen {
			key := [2]string{a.name, e.name}
			c, x := found[key], want[key]
			shown := cellText(e.marks, c.marks)
			if missing := without(x.marks, c.marks); missing != "" {
				shown += " !"
				failures = append(failures, fmt.Sprintf("%s %s: %s is missing %s", a.name, e.name, missing, errorText(c.err)))
			} else if more := without(c.marks, x.marks); more != "" {
				notes = append(notes, fmt.Sprintf("%s %s: %s works, but expected.txt does not have it", a.name, e.name, more))
			}
			if x.reason != "" {
				notes = append(notes, fmt.Sprintf("%s %s: %s", a.name, e.name, x.reason))
			}
			fmt.Fprintf(w, " %-9s", shown)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
	for _, n := range notes {
		fmt.Fprintln(w, n)
	}
	for _, f := range failures {
		fmt.Fprintln(w, "FAIL", f)
	}
	if len(failures) > 0 {
		return 1
	}
	return 0
}

// cellText returns the possible marks, with a dash for each one that was not observed.
func cellText(possible, observed string) string {
	text := ""
	for _, r := range possible {
		if strings.ContainsRune(observed, r) {
			text += string(r)
		} else {
			text += "-"
		}
	}
	return text
}

// without returns the letters of a that b does not have.
func without(a, b string) string {
	text := ""
	for _, r := range a {
		if !strings.ContainsRune(b, r) {
			text += string(r)
		}
	}
	return text
}
