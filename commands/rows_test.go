package commands

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A row of the acceptance list, and what shows it.
type row struct{ id, says, where string }

// rowTable reads testdata/rows.txt.
func rowTable(t *testing.T) []row {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "rows.txt"))
	require.NoError(t, err)
	var rows []row
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, " | ")
		require.Lenf(t, fields, 3, "%q", line)
		rows = append(rows, row{fields[0], fields[1], fields[2]})
	}
	return rows
}

// Every row of the acceptance list has one line here, in words of its own, and
// no line is of another row.
func TestRowsAreAllThere(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "shared", "features.md"))
	if err != nil {
		require.NotEqual(t, "true", os.Getenv("CI"), "CI needs the acceptance list: %v", err)
		t.Skip("no acceptance list here: ", err)
	}
	wanted := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| ((?:S[0-4]|O|R)\.[0-9]+|C[0-9]+) \| (.*?) \|`).FindAllStringSubmatch(string(data), -1) {
		wanted[m[1]] = m[2]
	}
	require.Greater(t, len(wanted), 500)
	seen := map[string]bool{}
	for _, r := range rowTable(t) {
		assert.Falsef(t, seen[r.id], "%s is there twice", r.id)
		assert.Containsf(t, wanted, r.id, "%s is no row", r.id)
		assert.NotEqualf(t, wanted[r.id], r.says, "%s is not in words of its own", r.id)
		assert.NotEmptyf(t, r.says, "%s says nothing", r.id)
		seen[r.id] = true
	}
	for id := range wanted {
		assert.Truef(t, seen[id], "%s has no line in testdata/rows.txt", id)
	}
}

// What a line names is there, and is not skipped: a test, or a script with the
// row's id above a step.
func TestRowsAreShown(t *testing.T) {
	var unmet []string
	for _, r := range rowTable(t) {
		if why, not := strings.CutPrefix(r.where, "not met: "); not {
			assert.NotEmptyf(t, why, "%s has no reason", r.id)
			unmet = append(unmet, r.id+" ("+r.says+"): "+why)
			continue
		}
		for place := range strings.SplitSeq(r.where, ", ") {
			assert.NoErrorf(t, shown(r.id, place), "%s (%s)", r.id, r.says)
		}
	}
	t.Logf("%d rows are not met:\n%s", len(unmet), strings.Join(unmet, "\n"))
}

// shown looks for a script's step or a test.
func shown(id, place string) error {
	where, name, ok := strings.Cut(place, " ")
	if !ok {
		return fmt.Errorf("%q: want a script or a test", place)
	}
	if where == "script" {
		data, err := os.ReadFile(filepath.Join("..", "testdata", "script", name+".txtar"))
		if err != nil {
			return err
		}
		return stepIn(string(data), id)
	}
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(where), "*_test.go"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("%s: no tests there", where)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if text := testIn(string(data), name); text != "" {
			return testShows(text, id)
		}
	}
	return fmt.Errorf("%s has no %s", where, name)
}

// testIn returns a test and the comment above it, "" where there is none of
// that name.
func testIn(source, name string) string {
	before, rest, ok := strings.Cut(source, "\nfunc "+name+"(t *testing.T) {\n")
	if !ok {
		return ""
	}
	body, _, _ := strings.Cut("\n"+rest, "\n}\n")
	lines := strings.Split(before, "\n")
	comment := len(lines)
	for comment > 0 && strings.HasPrefix(lines[comment-1], "//") {
		comment--
	}
	return strings.Join(lines[comment:], "\n") + "\n" + body
}

// testShows looks for the row in a test, and for asserts.
func testShows(text, id string) error {
	switch {
	case !mentions(text, id):
		return fmt.Errorf("the test says nothing of %s", id)
	case regexp.MustCompile(`\bt\.Skip`).MatchString(text):
		return errors.New("the test is skipped")
	case !regexp.MustCompile(`\b(assert|require)\.|\bt\.(Error|Fatal)`).MatchString(text):
		return errors.New("the test asserts nothing")
	}
	return nil
}

// mentions looks for the id of a row: S3.1 is not in S3.10.
func mentions(text, id string) bool {
	return regexp.MustCompile(`(?:^|[^\w.])` + regexp.QuoteMeta(id) + `(?:\D|$)`).MatchString(text)
}

// A scriptStep is comments of a script and the commands below them, with the
// numbers of its lines.
type scriptStep struct {
	comments, commands string
	first, last        int
}

// stepsOf cuts a script into its steps.
func stepsOf(script string) []scriptStep {
	script, _, _ = strings.Cut("\n"+script, "\n-- ")
	var steps []scriptStep
	inComment := false
	for n, line := range strings.Split(script, "\n")[1:] {
		comment := strings.HasPrefix(line, "#")
		if len(steps) == 0 || comment && !inComment {
			steps = append(steps, scriptStep{first: n + 1})
		}
		inComment = comment
		s := &steps[len(steps)-1]
		s.last = n + 1
		if comment {
			s.comments += line + "\n"
		} else {
			s.commands += line + "\n"
		}
	}
	return steps
}

// stepIn looks for a comment with the id, and below it for a command that
// compares: that something runs shows little.
func stepIn(script, id string) error {
	found := false
	for _, s := range stepsOf(script) {
		if why := endIn(s.commands); why != "" {
			return fmt.Errorf("the script ends here: %s", why)
		}
		if mentions(s.comments, id) {
			found = true
			if compares.MatchString(s.commands) {
				return nil
			}
		}
	}
	if found {
		return fmt.Errorf("the step of %s compares nothing", id)
	}
	return fmt.Errorf("no step has %s above it", id)
}

// endIn finds a command that ends a script elsewhere than where tests have no
// terminal, or not what Linux has.
func endIn(commands string) string {
	for _, m := range ends.FindAllStringSubmatch(commands, -1) {
		if when := strings.TrimSpace(m[1]); when != "[!linux]" && when != "[windows]" {
			return m[0]
		}
	}
	return ""
}

var (
	ends     = regexp.MustCompile(`(?m)^((?:\[[^\]]*\] *)*)(?:skip|stop)\b`)
	compares = regexp.MustCompile(`(?m)^(?:\[\S+\] *)?(?:! +)?(?:rc|stdout|stderr|field|fields|cmp|cmpenv|grep|exists|expect|! +\w+) `)
)

// What could be taken for showing a row, and does not.
func TestRowsAreNotFooled(t *testing.T) {
	const script = "# S3.10 ten\nexec a\nstdout b\n\n# S3.2 nothing\n\n# S3.4 runs\nexec a\n\n# S3.5 two\n# lines\n! exec a\n"
	for id, want := range map[string]string{
		"S3.10": "", "S3.5": "",
		"S3.1": "no step has S3.1 above it", "S3.2": "the step of S3.2 compares nothing", "S3.4": "the step of S3.4 compares nothing",
		"S3.6": "no step has S3.6 above it",
	} {
		assert.Equal(t, want, message(stepIn(script+"-- a --\n# S3.6 a file\nstdout b\n", id)), id)
	}
	for text, want := range map[string]string{
		"[!linux] skip 'why'\n":  "",
		"[windows] skip\n":       "",
		"skip\n":                 "the script ends here: skip",
		"stop 'why'\n":           "the script ends here: stop",
		"[unix] skip\n":          "the script ends here: [unix] skip",
		"[!exec:sqlite3] skip\n": "the script ends here: [!exec:sqlite3] skip",
	} {
		assert.Equal(t, want, message(stepIn(text+script, "S3.10")), text)
	}
	for text, want := range map[string]string{
		"// Rows R.4 and R.5.\nfunc TestX(t *testing.T) {\n\tassert.True(t, a)\n}\n":    "",
		"\n// R.40\nfunc TestX(t *testing.T) {\n\tassert.True(t, a)\n}\n":               "the test says nothing of R.4",
		"// R.4\n\nfunc TestX(t *testing.T) {\n\tassert.True(t, a)\n}\n":                "the test says nothing of R.4",
		"// R.4\nfunc TestX(t *testing.T) {\n\tt.Skip()\n\tassert.True(t, a)\n}\n":      "the test is skipped",
		"// R.4\nfunc TestX(t *testing.T) {\n}\n\nfunc a() {\n\tassert.True(t, a)\n}\n": "the test asserts nothing",
	} {
		found := testIn("package a\n\n"+text, "TestX")
		require.NotEmpty(t, found, text)
		assert.Equal(t, want, message(testShows(found, "R.4")), text)
	}
	assert.Empty(t, testIn("package a\n\nfunc TestXY(t *testing.T) {\n}\n", "TestX"))
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
