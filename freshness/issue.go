package freshness

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"git-checkpoint/gitstore/diff"
	"git-checkpoint/gitstore/failure"
)

const digestPrefix = "sha256:"

// BodyDigest returns a digest that replaces a body too long for the record: "sha256:" and
// the hex digest of the normalized body, which the body check compares.
func BodyDigest(body string) string {
	sum := sha256.Sum256([]byte(normal(body)))
	return digestPrefix + hex.EncodeToString(sum[:])
}

// A Handover allows the command To to continue workflows begun by the command From.
// Scopes limits the handover; an empty list allows all scopes.
type Handover struct {
	From, To string
	Scopes   []string
}

// ParseHandover parses "from to scope scope ...". It returns false if a command is
// missing.
func ParseHandover(s string) (Handover, bool) {
	words := strings.Fields(s)
	if len(words) < 2 {
		return Handover{}, false
	}
	return Handover{words[0], words[1], words[2:]}, true
}

// normal returns a body with LF line endings and without trailing white space.
func normal(body string) string {
	return strings.TrimRight(strings.ReplaceAll(body, "\r\n", "\n"), " \t\r\n")
}

// checkIssue reports a failed comparison of the issue, and changes of fields other than
// labels and body.
func checkIssue(in input) {
	now := in.facts.Issue
	switch {
	case now == nil && (in.recorded("body") || in.recorded("labels") || in.facts.NoIssue != "" && !in.facts.NoSource):
		in.unchecked("issue", "Issue", in.facts.NoIssue)
		return
	case now == nil && in.issue.Known:
		in.add("issue", Resume, "Issue not checked: %s", failure.Printable(in.facts.NoIssue))
		return
	case now == nil:
		return
	}
	if now.State == "closed" && in.issue.State != "closed" {
		in.add("issue", ProceedWithWarning, "Issue is closed")
	}
	if !in.issue.Known {
		return
	}
	if was, is := strings.TrimSpace(in.issue.Title), strings.TrimSpace(now.Title); in.comparable("title") && was != is {
		in.add("issue", ProceedWithWarning, "Issue title changed since checkpoint").Detail = []string{quoted(was) + " -> " + quoted(is)}
	}
	if was, are := set(in.issue.Assignees), set(now.Assignees); in.comparable("assignees") && !slices.Equal(was, are) {
		in.add("issue", ProceedWithWarning, "Issue assignees changed since checkpoint").Detail = append(listed("added", minus(are, was)), listed("removed", minus(was, are))...)
	}
	for _, f := range []struct { // fields missing from the source
		field    string
		recorded bool
	}{
		{"title", in.issue.Title != ""},
		{"body", in.issue.Body != "" || in.issue.BodyDigest != ""},
		{"labels", len(in.issue.Labels) > 0},
		{"assignees", len(in.issue.Assignees) > 0},
		{"state", in.issue.State != ""},
	} {
		if f.recorded && !now.Has(f.field) {
			in.unchecked("issue", "Issue "+f.field, cmp.Or(now.Source, "the source")+" does not have it")
		}
	}
}

// recorded reports whether the checkpoint has the field of the issue. An empty list of labels
// counts as recorded. A body may be recorded by its digest only.
func (in input) recorded(field string) bool {
	v, _ := in.record.Doc().Lookup("issue_snapshot." + field)
	return v != nil || field == "body" && in.issue.BodyDigest != ""
}

// comparable reports whether both checkpoint and source have the field.
func (in input) comparable(field string) bool {
	return in.recorded(field) && in.facts.Issue.Has(field)
}

// set returns sorted unique strings.
func set(l []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(l)))
}

// listed returns one line of detail, or nil for an empty list.
func listed(what string, l []string) []string {
	if len(l) == 0 {
		return nil
	}
	return []string{what + ": " + join(l)}
}

func join(l []string) string { return strings.Join(each(l), ", ") }

// minus returns the elements of set a missing from set b.
func minus(a, b []string) []string {
	var out []string
	for _, s := range a {
		if _, ok := slices.BinarySearch(b, s); !ok {
			out = append(out, s)
		}
	}
	return out
}

func checkBody(in input) {
	if !in.comparable("body") {
		return
	}
	before, digest, now := normal(in.issue.Body), in.issue.BodyDigest, in.facts.Issue.Body
	byDigest := before == "" && digest != ""
	switch {
	case byDigest && !strings.HasPrefix(digest, digestPrefix):
		in.unchecked("body", "Issue body", "the checkpoint's digest is of an unknown kind")
		return
	case byDigest && digest == BodyDigest(now), !byDigest && before == normal(now):
		return
	}
	r := in.add("body", PromptUser, "Issue body modified since checkpoint")
	if !byDigest {
		r.Detail, r.Diff = []string{firstDifference(before, normal(now))}, diffLines(before, normal(now))
	}
}

// firstDifference returns the first line that differs between two texts.
func firstDifference(a, b string) string {
	was, is := strings.Split(a, "\n"), strings.Split(b, "\n")
	n := 0
	for n < len(was) && n < len(is) && was[n] == is[n] {
		n++
	}
	return fmt.Sprintf("line %d: %s -> %s", n+1, lineAt(was, n), lineAt(is, n))
}

const excerpt = 60 // maximum length of a quoted line, in characters

func lineAt(lines []string, n int) string {
	if n >= len(lines) {
		return "nothing"
	}
	line := []rune(lines[n])
	if len(line) > excerpt {
		return quoted(string(line[:excerpt])) + "..."
	}
	return quoted(string(line))
}

// diffLines returns a line diff of two texts: removed lines with prefix "-", added lines
// with prefix "+", and one unchanged context line with prefix " " on either side.
func diffLines(before, now string) []string {
	all := diff.Edit(strings.Split(before, "\n"), strings.Split(now, "\n"))
	first, last := len(all), 0
	for n, l := range all {
		if l.Op != ' ' {
			first, last = min(first, n), n+1
		}
	}
	if last == 0 {
		return nil
	}
	var out []string
	for _, l := range all[max(0, first-1):min(len(all), last+1)] {
		out = append(out, string(l.Op)+l.Text)
	}
	return out
}

func checkLabels(in input) {
	if in.labelsDiffer() {
		before, now := set(in.issue.Labels), set(in.facts.Issue.Labels)
		in.add("labels", ProceedWithWarning, "Issue labels changed since checkpoint").Detail = slices.Concat(
			listed("added", minus(now, before)), listed("removed", minus(before, now)), in.phaseDetail())
	}
}

// labelsDiffer reports whether both sets of labels are known and differ.
func (in input) labelsDiffer() bool {
	return in.comparable("labels") && !slices.Equal(set(in.issue.Labels), set(in.facts.Issue.Labels))
}

// phaseDetail describes the phase change, or the reason that the phase stays.
func (in input) phaseDetail() []string {
	now := in.rules.StateLabels(in.facts.Issue.Labels)
	label, phase := in.followLabels()
	switch {
	case len(now) > 1:
		return []string{"phase unchanged: several state labels: " + join(now)}
	case label == "":
		return nil
	case phase == "":
		return []string{"phase unchanged: label " + failure.Printable(label) + " maps to no phase"}
	case phase == in.record.Phase():
		return []string{"phase: " + failure.Printable(phase) + ", as recorded"}
	}
	return []string{"phase: " + phaseName(in.record.Phase()) + " -> " + failure.Printable(phase)}
}

// followLabels returns the new state label and phase if labels changed. It returns no
// phase if the number of state labels is not one.
func (in input) followLabels() (label, phase string) {
	if in.rules.IssueFollows || !in.labelsDiffer() {
		return "", ""
	}
	before, now := in.rules.StateLabels(in.issue.Labels), in.rules.StateLabels(in.facts.Issue.Labels)
	if len(now) != 1 || slices.Equal(before, now) {
		return "", ""
	}
	return now[0], in.rules.phaseOf(now[0], in.record.Progress().Names)
}

func phaseName(s string) string { return failure.Printable(cmp.Or(s, "none")) }

// checkHandover checks whether the resuming command may continue a workflow of another
// command. It reports no finding if a command is unknown.
func checkHandover(in input) {
	from, to, scope := in.record.Command(), in.facts.By, in.record.Scope()
	if from == "" || to == "" || from == to || slices.ContainsFunc(in.rules.Handovers, func(h Handover) bool {
		return h.From == from && h.To == to && (len(h.Scopes) == 0 || slices.Contains(h.Scopes, scope))
	}) {
		return
	}
	what := "a workflow"
	if scope != "" {
		what = "a workflow of scope " + failure.Printable(scope)
	}
	in.add("command", PromptUser, "Begun by %s, and %s cannot continue %s", failure.Printable(from), failure.Printable(to), what)
}
