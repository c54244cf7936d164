package commands

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
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

// Two releases of the newest commit have the same bytes in different folders, at different
// times, with different umasks and time zones. Each archive and package contains the files of
// its list in testdata/release, and can be installed. The test needs
// GIT_CHECKPOINT_TEST_RELEASE=full, dpkg-deb, rpm and npm. Compiling goreleaser alone takes
// minutes.
func TestReleaseWhole(t *testing.T) {
	t.Parallel()
	if os.Getenv("GIT_CHECKPOINT_TEST_RELEASE") != "full" {
		t.Skip("GIT_CHECKPOINT_TEST_RELEASE is not full")
	}
	first, second := release(t, "022", "UTC"), release(t, "077", "Asia/Tokyo")
	compared := []string{"checksums.txt"}
	for pattern, count := range map[string]int{
		"git-checkpoint_*.gz": 4, "git-checkpoint_*.zip": 2, "git-checkpoint_*.deb": 2, "git-checkpoint_*.rpm": 2,
		"git-checkpoint_*.apk": 2, "git-checkpoint_*.cdx.json": 6, "packages/git-checkpoint.*": 3, "packages/npm/*.tgz": 7,
	} {
		names, err := fs.Glob(os.DirFS(first), pattern)
		require.NoError(t, err)
		assert.Len(t, names, count, pattern)
		compared = append(compared, names...)
	}
	for _, name := range compared {
		assert.Equal(t, digest(t, filepath.Join(first, name)), digest(t, filepath.Join(second, name)), name)
		if list, packager := released(t, filepath.Join(first, name)); packager != "" {
			assertReleased(t, packager, list)
		}
	}
	installPackages(t, first)
}

// release creates a release in a new clone and returns its directory.
func release(t *testing.T, umask, zone string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	script := `umask "$1" && git clone -q .. "$2" && exec "$2/.ci/release" --snapshot`
	cmd := exec.Command("sh", "-c", script, "-", umask, dir)
	cmd.Env = append(os.Environ(), "TZ="+zone)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return filepath.Join(dir, "dist")
}

// released returns the files in an archive or a package, and the name of the list to
// compare them with, "" for other files.
func released(t *testing.T, name string) (names []string, packager string) {
	t.Helper()
	switch kind := strings.TrimPrefix(filepath.Ext(name), "."); kind {
	case "deb":
		// The format of a line is "mode owner size date time ./name".
		for _, line := range linesOf(t, "dpkg-deb", "-c", name) {
			if !strings.HasPrefix(line, "d") {
				names = append(names, strings.TrimPrefix(strings.Fields(line)[5], "."))
			}
		}
		return names, kind
	case "rpm":
		return linesOf(t, "rpm", "-qlp", name), kind
	case "apk":
		for _, line := range linesOf(t, "tar", "-tzf", name, "--warning=no-unknown-keyword") {
			if !strings.HasPrefix(line, ".") && !strings.HasSuffix(line, "/") {
				names = append(names, "/"+line)
			}
		}
		return names, kind
	case "zip":
		names = zipped(t, name)
	case "gz":
		names = tarred(t, name)
	default:
		return nil, ""
	}
	for i, n := range names {
		_, n, _ = strings.Cut(n, "/")
		names[i] = strings.TrimSuffix(n, ".exe")
	}
	return names, "archive"
}

func linesOf(t *testing.T, command string, args ...string) []string {
	t.Helper()
	out, err := exec.Command(command, args...).Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

func zipped(t *testing.T, name string) (names []string) {
	t.Helper()
	r, err := zip.OpenReader(name)
	require.NoError(t, err)
	defer r.Close()
	for _, f := range r.File {
		names = append(names, f.Name)
	}
	return names
}

func tarred(t *testing.T, name string) (names []string) {
	t.Helper()
	file, err := os.Open(name)
	require.NoError(t, err)
	defer file.Close()
	plain, err := gzip.NewReader(file)
	require.NoError(t, err)
	for r := tar.NewReader(plain); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		require.NoError(t, err)
		names = append(names, h.Name)
		assert.Equal(t, "root:root", h.Uname+":"+h.Gname, h.Name)
		assert.Equal(t, strings.HasSuffix(h.Name, "/bin/git-checkpoint") || strings.HasSuffix(h.Name, "/git-checkpoint-sha256"), h.Mode&0o111 != 0, h.Name)
	}
}
