package progress

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// MaxPhases limits the phases of a workflow.
const MaxPhases = 1000

// ParseNames parses comma-separated phase names.
func ParseNames(s string) ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(s, ",") {
		switch name = strings.TrimSpace(name); {
		case name == "":
			return nil, fmt.Errorf("%.80q: a name is empty", s)
		case len(name) > maxPhaseName:
			return nil, fmt.Errorf("%.40q...: longer than %d bytes", name, maxPhaseName)
		case strings.ContainsFunc(name, unicode.IsControl):
			return nil, fmt.Errorf("%.40q: not on one line, or with a control character", name)
		case slices.Contains(names, name):
			return nil, fmt.Errorf("%.40q is there twice", name)
		}
		names = append(names, name)
	}
	if len(names) > MaxPhases {
		return nil, fmt.Errorf("%d names, want at most %d", len(names), MaxPhases)
	}
	return names, nil
}

// PlannedPhases returns the number of phases in a Markdown plan: the largest N of its
// headings "Phase N", 0 if no such heading exists. Fenced code blocks are ignored.
func PlannedPhases(plan string) int {
	total, fence := 0, ""
	for line := range strings.Lines(plan) {
		line = strings.TrimSpace(line)
		switch f := fenceOf(line); {
		case fence == "":
			fence = f
		case f == fence:
			fence = ""
		}
		if n := phaseHeading(line); fence == "" && n <= MaxPhases {
			total = max(total, n)
		}
	}
	return total
}

// fenceOf returns the fence that starts a line, "" for other lines.
func fenceOf(line string) string {
	for _, fence := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, fence) {
			return fence
		}
	}
	return ""
}

// phaseHeading returns the number in a heading like "## Phase 2: build", 0 for other
// lines.
func phaseHeading(line string) int {
	text := strings.TrimLeft(line, "#")
	if text == line || len(line)-len(text) > 6 || !strings.HasPrefix(text, " ") {
		return 0
	}
	text = strings.TrimLeft(text, " *[]x✓")
	if len(text) < 6 || !strings.EqualFold(text[:6], "phase ") {
		return 0
	}
	digits := text[6:]
	if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = digits[:end]
	}
	n, _ := strconv.Atoi(digits)
	return n
}
