package commands

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// goreleaser is the tested part of the release configuration.
type goreleaser struct {
	Before   struct{ Hooks []string }
	Builds   []releaseBuild
	Archives []struct{ Files []packed }
	Nfpms    []struct {
		Formats  []string
		Bindir   string
		License  string
		Contents []packed
	}
}

// A releaseBuild is one program of the release.
type releaseBuild struct {
	ID, Binary                              string
	Env, Flags, Tags, Ldflags, Goos, Goarch []string
	ModTimestamp                            string `yaml:"mod_timestamp"`
}

func readGoreleaser(t *testing.T) *goreleaser {
	t.Helper()
	var g goreleaser
	require.NoError(t, g.read())
	return &g
}

func (g *goreleaser) read() error {
	data, err := os.ReadFile(filepath.Join("..", ".goreleaser.yaml"))
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(data, g); err != nil {
		return err
	}
	if len(g.Builds) != 2 || len(g.Archives) != 1 || len(g.Nfpms) != 1 {
		return errors.New(".goreleaser.yaml: not two builds, one kind of archive, one of package")
	}
	return nil
}

// The names of the program's home and maintainer stand only in .ci/names, apart from Markdown.
// Whatever else contains them reads that file, and the module's name from go.mod.
func TestReleaseNames(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", ".ci", "names"))
	require.NoError(t, err)
	names := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^([A-Z]+)="(.+)"$`).FindAllStringSubmatch(string(text), -1) {
		names[m[1]] = m[2]
	}
	require.Len(t, names, 5)
	for _, name := range []string{"REPOSITORY", "HOMEPAGE", "MAINTAINER"} {
		value := regexp.MustCompile(`^.*(<|://)`).ReplaceAllString(strings.TrimSuffix(names[name], ">"), "")
		require.NotEmpty(t, value, name)
		out, err := exec.Command("git", "grep", "-lF", "-e", value, "--", "..", ":!*.md", ":!*.go").CombinedOutput()
		if errors.Is(err, exec.ErrNotFound) || strings.HasPrefix(string(out), "fatal:") {
			t.Skip("not in a clone: " + string(out))
		}
		assert.Equal(t, "../.ci/names\n", string(out), name)
	}
	for _, b := range readGoreleaser(t).Builds {
		for _, flag := range b.Ldflags {
			assert.True(t, flag == "-s -w" || strings.HasPrefix(flag, "-X {{ .Env.MODULE }}/"), flag)
		}
	}
	templates, err := filepath.Glob(filepath.Join("..", ".ci", "packages", "*.*"))
	require.NoError(t, err)
	more, err := filepath.Glob(filepath.Join("..", ".ci", "packages", "npm", "*"))
	require.NoError(t, err)
	templates = append(append(templates, more...), filepath.Join("..", ".goreleaser.yaml"))
	require.Len(t, templates, 7)
	for _, file := range templates {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.NotRegexp(t, `://|[^ ]+@[a-z]+\.[a-z]+`, string(data), file)
	}
	assert.Equal(t, names["LICENSE"], readGoreleaser(t).Nfpms[0].License)
}

// Two builds of a release have the same bytes on every machine.
// GIT_CHECKPOINT_TEST_RELEASE=host builds for this system, full for all six. Without a
// build cache this takes minutes.
func TestReleaseReproducible(t *testing.T) {
	t.Parallel()
	g := readGoreleaser(t)
	which := os.Getenv("GIT_CHECKPOINT_TEST_RELEASE")
	if which == "" {
		t.Skip("GIT_CHECKPOINT_TEST_RELEASE is not set")
	}
	built := 0
	for _, goos := range g.Builds[0].Goos {
		for _, goarch := range g.Builds[0].Goarch {
			host := goos == runtime.GOOS && goarch == runtime.GOARCH
			if which != "full" && !host {
				continue
			}
			built++
			t.Run(goos+"-"+goarch, func(t *testing.T) {
				for _, b := range g.Builds {
					first, second := b.build(t, goos, goarch), b.build(t, goos, goarch)
					assert.Equal(t, digest(t, first), digest(t, second))
					if host {
						saysVersion(t, first)
					}
				}
			})
		}
	}
	assert.Positive(t, built)
}

// filled replaces goreleaser's variables about a commit.
var filled = strings.NewReplacer("{{ .Env.MODULE }}", "git-checkpoint",
	"{{ .Version }}", "1.2.3", "{{ .FullCommit }}", strings.Repeat("a", 40), "{{ .CommitDate }}", "2026-02-14T14:30:00Z",
)

// sources copies the sources of a release to a new directory.
func sources(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"main.go", "go.mod", "go.sum", "commands", "freshness", "gitstore", "LICENSE", "README.md", "CHANGELOG.md", ".ci"} {
		out, err := exec.Command("cp", "-R", filepath.Join("..", name), dir).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	return dir
}

// build compiles a copy of the sources with the configured settings.
func (b releaseBuild) build(t *testing.T, goos, goarch string) string {
	t.Helper()
	dir := sources(t)
	ldflags := filled.Replace(strings.Join(b.Ldflags, " "))
	args := append([]string{"build", "-o", "git-checkpoint.out", "-tags", strings.Join(b.Tags, ","), "-ldflags", ldflags}, b.Flags...)
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), b.Env...), "GOOS="+goos, "GOARCH="+goarch, "GOWORK=off", "PWD="+dir)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return filepath.Join(dir, "git-checkpoint.out")
}

func digest(t *testing.T, name string) [32]byte {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return sha256.Sum256(data)
}

func saysVersion(t *testing.T, program string) {
	t.Helper()
	out, err := exec.Command(program, "version", "--json").Output()
	require.NoError(t, err)
	var v struct{ Program, Commit, Date string }
	require.NoError(t, json.Unmarshal(out, &v))
	assert.Equal(t, "1.2.3 "+strings.Repeat("a", 40)+" 2026-02-14T14:30:00Z", v.Program+" "+v.Commit+" "+v.Date)
	out, err = exec.Command(program, "version").Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "git-checkpoint 1.2.3 ("+strings.Repeat("a", 40)+", 2026-02-14) go")
}
