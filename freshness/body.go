package freshness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

const digestPrefix = "sha256:"

// BodyDigest returns a digest that replaces a body too long for the record: "sha256:" and
// the hex digest of the normalized body, which the body check compares.
func BodyDigest(body string) string {
	sum := sha256.Sum256([]byte(normal(body)))
	return digestPrefix + hex.EncodeToString(sum[:])
}

// normal returns a body with LF line endings and without trailing white space.
func normal(body string) string {
	return strings.TrimRight(strings.ReplaceAll(body, "\r\n", "\n"), " \t\r\n")
}

func checkBody(in input) []Reason {
	if !in.comparable("body") {
		return nil
	}
	before, digest, now := normal(in.issue.Body), in.issue.BodyDigest, in.facts.Issue.Body
	byDigest := before == "" && digest != ""
	switch {
	case byDigest && !strings.HasPrefix(digest, digestPrefix):
		return []Reason{unchecked("body", "Issue body", "the checkpoint's digest is of an unknown kind")}
	case byDigest && digest == BodyDigest(now), !byDigest && before == normal(now):
		return nil
	}
	r := reason("body", PromptUser, "Issue body modified since checkpoint")
	if !byDigest {
		r.Detail = []string{firstDifference(before, normal(now))}
		r.Diff = diffLines(before, normal(now))
	}
	return []Reason{r}
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
