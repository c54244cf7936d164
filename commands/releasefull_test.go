package commands

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
