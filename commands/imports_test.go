package commands

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// layers lists the packages of the module from the top to the bottom. A package imports
// packages of lower layers only, so those of one layer do not import each other. A name
// that ends in "/..." covers all packages below it that are missing in this list.
var layers = [][]string{
	{""},
	{"commands"},
	{"commands/..."}, // the command families

	// shared by the command families
	{"commands/internal/hook/install", "commands/internal/work"},
	{"commands/internal/invoke"},
	{"commands/internal/config", "commands/internal/sessions"},
	{
		"commands/internal/complete",
		"commands/internal/guard",
		"commands/internal/mirror",
		"commands/internal/view",
	},
	{
		"commands/internal/atomicfile",
		"commands/internal/hook",
		"commands/internal/manual",
		"commands/internal/schema",
		"commands/internal/terminal",
		"commands/internal/transcript",
	},
	{"gitstore/testing/storetest"},
	{"gitstore", "freshness/issue/forge"},
	{"freshness/issue"},
	{"freshness", "gitstore/testing/forgetest"},

	// operations of the store
	{
		"gitstore/internal/doctor",
		"gitstore/internal/restore",
		"gitstore/internal/secrets",
		"gitstore/internal/share",
	},
	{"gitstore/internal/facts"},
	{"gitstore/internal/snapshot"},

	// what the operations share
	{"gitstore/internal/chain", "gitstore/internal/operation"},
	{"gitstore/internal/remote"},
	{"gitstore/internal/repo"},
	{"gitstore/internal/treediff", "gitstore/layout/internal/testing/layouttest"},
	{
		"gitstore/internal/contents",
		"gitstore/internal/join",
		"gitstore/internal/secrets/scan",
		"gitstore/layout",
	},

	// documents of other systems
	{
		"gitstore/layout/claude",
		"gitstore/layout/crunch",
		"gitstore/layout/dotagent",
		"gitstore/layout/entire",
		"gitstore/layout/pipeline",
		"gitstore/layout/recovery",
	},
	{"gitstore/layout/internal/codec"},
	{"gitstore/layout/internal/workflow"},
	{"gitstore/layout/internal/values"},

	// git
	{"gitstore/internal/git/repository"},
	{"gitstore/internal/trees"},
	{
		"gitstore/internal/git/ancestry",
		"gitstore/internal/git/ident",
		"gitstore/internal/ledger",
		"gitstore/internal/odb",
		"gitstore/internal/refs",
	},
	{"gitstore/internal/git"},
	{"gitstore/testing/gittest"},
	{"gitstore/fsutil/filelock"},
	{"gitstore/fsutil", "gitstore/fsutil/processtree"},

	// leaves that every package may import
	{"gitstore/checkpoint/progress"},
	{"gitstore/checkpoint/story"},
	{"gitstore/checkpoint/tasks", "gitstore/diff", "gitstore/retention"},
	{"gitstore/checkpoint"},
	{"gitstore/checkpoint/document"},
	{"gitstore/failure", "gitstore/internal/git/objectformat", "gitstore/trace"},
}

// layerOf returns the layer of a package, -1 if it has none.
func layerOf(pkg string) int {
	for i, names := range layers {
		if slices.Contains(names, pkg) {
			return i
		}
	}
	return slices.IndexFunc(layers, func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			parent, all := strings.CutSuffix(name, "...")
			return all && strings.HasPrefix(pkg, parent)
		})
	})
}

// goGit reports whether a package may import go-git: the store and the packages below it.
func goGit(pkg string) bool { return pkg == "gitstore" || strings.HasPrefix(pkg, "gitstore/") }

func TestImportsRunDownwards(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "git-checkpoint/...").Output()
	require.NoError(t, err)
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkg := local(fields[0])
		layer := layerOf(pkg)
		require.GreaterOrEqualf(t, layer, 0, "package %q has no layer", pkg)
		seen[pkg] = true
		for _, imported := range fields[1:] {
			if strings.HasPrefix(imported, "git-checkpoint/") {
				assert.Greaterf(t, layerOf(local(imported)), layer, "%q may not import %q, which is not below it", pkg, local(imported))
			}
			if strings.HasPrefix(imported, "github.com/go-git/") {
				assert.Truef(t, goGit(pkg), "%q imports %s", pkg, imported)
				assert.NotEqualf(t, "github.com/go-git/go-git/v5", imported, "%q: the root package costs start time", pkg)
			}
			if imported == "github.com/urfave/cli/v2" {
				assert.Truef(t, strings.HasPrefix(pkg, "commands"), "%q imports %s", pkg, imported)
			}
		}
	}
	for _, names := range layers {
		for _, name := range names {
			assert.Truef(t, seen[name] || strings.HasSuffix(name, "/..."), "%q has a layer and does not exist", name)
		}
	}
}

func local(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, "git-checkpoint"), "/")
}

// Only fixtures of tests switch syncs to the disk off.
func TestNoProgramSkipsSyncs(t *testing.T) {
	t.Parallel()
	files := 0
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		if strings.Contains(path, "gitstore/testing/") || strings.HasSuffix(path, "gitstore/fsutil/sync.go") {
			return nil
		}
		files++
		data, err := os.ReadFile(path)
		assert.NotContains(t, string(data), "SkipSync(", path)
		return err
	}))
	assert.Greater(t, files, 300)
}
