package commands

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mayImport lists the allowed imports of each package. Imports run one way, from the
// command line down to the record.
var mayImport = map[string][]string{
	"": {"commands"},
	"commands": {
		"commands/atomicfile",
		"commands/complete",
		"commands/config",
		"commands/display",
		"commands/guard",
		"commands/hook",
		"commands/hook/install",
		"commands/manual",
		"commands/mirror",
		"commands/output",
		"commands/schema",
		"commands/terminal",
		"commands/web",
		"freshness",
		"freshness/issue",
		"freshness/issue/forge",
		"gitstore",
		"gitstore/checkpoint",
		"gitstore/checkpoint/progress",
		"gitstore/checkpoint/story",
		"gitstore/checkpoint/tasks",
		"gitstore/compare",
		"gitstore/gitcmd",
		"gitstore/health",
		"gitstore/layout",
		"gitstore/restore",
		"gitstore/retention",
	},
	"commands/complete":     {"commands/manual"},
	"commands/config":       {"gitstore/checkpoint", "gitstore/gitcmd", "gitstore/retention"},
	"commands/guard":        {"commands/terminal", "gitstore/checkpoint"},
	"commands/hook":         {},
	"commands/atomicfile":   {},
	"commands/hook/install": {"commands/atomicfile", "commands/hook", "commands/output", "gitstore/gitcmd"},
	"commands/manual":       {},
	"commands/mirror":       {"commands/atomicfile", "gitstore/layout"},
	"commands/output":       {},
	"commands/web": {
		"commands/output",
		"freshness",
		"gitstore",
		"gitstore/checkpoint",
		"gitstore/compare",
		"gitstore/linediff",
		"gitstore/retention",
	},
	"commands/display":                {"commands/output", "gitstore/checkpoint", "gitstore/compare", "gitstore/linediff"},
	"freshness":                       {"gitstore/checkpoint", "gitstore/checkpoint/story", "gitstore/checkpoint/tasks", "gitstore/linediff"},
	"commands/schema":                 {},
	"commands/terminal":               {},
	"freshness/issue":                 {"freshness", "gitstore/checkpoint"},
	"freshness/issue/forge":           {"freshness/issue", "gitstore/checkpoint"},
	"freshness/issue/forge/forgetest": {},
	"gitstore": {
		"gitstore/between",
		"gitstore/checkpoint",
		"gitstore/checkpoint/tasks",
		"gitstore/checkpoint/unite",
		"gitstore/convert",
		"gitstore/filelock",
		"gitstore/gitcmd",
		"gitstore/health",
		"gitstore/history",
		"gitstore/ident",
		"gitstore/index",
		"gitstore/internal/fsutil",
		"gitstore/join",
		"gitstore/ledger",
		"gitstore/objects",
		"gitstore/outputs",
		"gitstore/refs",
		"gitstore/remote",
		"gitstore/repository",
		"gitstore/restore",
		"gitstore/retention",
		"gitstore/scan",
		"gitstore/snapshot",
		"gitstore/trees",
	},
	"gitstore/between":             {"gitstore/gitcmd", "gitstore/restore", "gitstore/trees"},
	"gitstore/checkpoint":          {},
	"gitstore/compare":             {"gitstore/checkpoint"},
	"gitstore/checkpoint/story":    {"gitstore/checkpoint", "gitstore/checkpoint/tasks"},
	"gitstore/checkpoint/tasks":    {"gitstore/checkpoint"},
	"gitstore/checkpoint/unite":    {"gitstore/checkpoint", "gitstore/checkpoint/progress", "gitstore/checkpoint/tasks"},
	"gitstore/checkpoint/progress": {"gitstore/checkpoint"},
	"gitstore/internal/storetest":  {"gitstore", "gitstore/checkpoint", "gitstore/retention"},
	"gitstore/convert":             {"gitstore/gitcmd"},
	"gitstore/gitcmd":              {},
	"gitstore/gitconfig":           {"gitstore/gitcmd"},
	"gitstore/health":              {},
	"gitstore/history":             {"gitstore/gitcmd"},
	"gitstore/ident":               {"gitstore/gitcmd"},
	"gitstore/index":               {},
	"gitstore/join":                {"gitstore/checkpoint", "gitstore/ledger"},
	"gitstore/ledger":              {"gitstore/checkpoint"},
	"gitstore/linediff":            {},
	"gitstore/objects":             {"gitstore/internal/fsutil"},
	"gitstore/objects/objecttest":  {"gitstore/objects"},
	"gitstore/outputs":             {"gitstore/checkpoint", "gitstore/convert", "gitstore/restore", "gitstore/trees"},
	"gitstore/repository":          {"gitstore/gitcmd", "gitstore/gitconfig", "gitstore/internal/fsutil"},
	"gitstore/remote":              {"gitstore/gitcmd"},
	"gitstore/restore":             {"gitstore/checkpoint", "gitstore/gitcmd", "gitstore/index", "gitstore/internal/fsutil", "gitstore/trees"},
	"gitstore/retention":           {"gitstore/checkpoint"},
	"gitstore/internal/fsutil":     {},
	"gitstore/internal/gittest":    {},
	"gitstore/refs":                {"gitstore/filelock", "gitstore/gitcmd", "gitstore/internal/fsutil"},
	"gitstore/filelock":            {},
	"gitstore/scan":                {},
	"gitstore/snapshot": {
		"gitstore/checkpoint",
		"gitstore/convert",
		"gitstore/gitcmd",
		"gitstore/index",
		"gitstore/objects",
		"gitstore/trees",
	},
	"gitstore/trees":  {},
	"gitstore/layout": {"gitstore/checkpoint", "gitstore/checkpoint/story", "gitstore/checkpoint/tasks"},
}

// goGit reports whether a package may import go-git: the store and the packages below it.
func goGit(pkg string) bool { return pkg == "gitstore" || strings.HasPrefix(pkg, "gitstore/") }

func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "git-checkpoint/...").Output()
	require.NoError(t, err)
	seen := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkg := local(fields[0])
		allowed, known := mayImport[pkg]
		require.Truef(t, known, "package %q has no row in this test", pkg)
		seen++
		for _, imported := range fields[1:] {
			if strings.HasPrefix(imported, "git-checkpoint/") {
				assert.Containsf(t, allowed, local(imported), "%q may not import it", pkg)
			}
			if strings.HasPrefix(imported, "github.com/go-git/") {
				assert.Truef(t, goGit(pkg), "%q imports %s", pkg, imported)
				assert.NotEqualf(t, "github.com/go-git/go-git/v5", imported, "%q: the root package costs start time", pkg)
			}
			if imported == "github.com/urfave/cli/v2" {
				assert.Equal(t, "commands", pkg)
			}
		}
	}
	assert.Equal(t, len(mayImport), seen, "a row without a package")
}

func local(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, "git-checkpoint"), "/")
}
