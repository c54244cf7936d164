package commands

import (
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
		return stepIn(id, name)
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
		if strings.Contains(string(data), "\nfunc "+name+"(") {
			return nil
		}
	}
	return fmt.Errorf("%s has no %s", where, name)
}

// stepIn looks for a comment with the id, and commands below it.
func stepIn(id, name string) error {
	data, err := os.ReadFile(filepath.Join("..", "testdata", "script", name+".txtar"))
	if err != nil {
		return err
	}
	script, _, _ := strings.Cut("\n"+string(data), "\n-- ")
	if regexp.MustCompile(`(?m)^(skip|stop)\b`).MatchString(script) {
		return fmt.Errorf("%s: it is skipped", name)
	}
	step := regexp.MustCompile(`(?m)^#.*(?:[^\w.]|^)` + regexp.QuoteMeta(id) + `(?:[^\d].*)?\n(?:#.*\n)*[^#\n]`)
	if !step.MatchString(script) {
		return fmt.Errorf("%s: no step has %s above it", name, id)
	}
	return nil
}
