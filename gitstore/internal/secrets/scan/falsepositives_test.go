package scan

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFalsePositives scans all files below the folders in GIT_CHECKPOINT_TEST_SCAN, such
// as worktrees of public projects, and lists the findings. Public projects should contain
// no secret, so each finding counts as a false positive. The limit is 1 per 1,000 files.
// GIT_CHECKPOINT_TEST_SCAN_ALLOW lists findings that a person judged to have the form of
// a real secret, as in scan_allow, with commas between them.
func TestFalsePositives(t *testing.T) {
	folders := filepath.SplitList(os.Getenv("GIT_CHECKPOINT_TEST_SCAN"))
	if len(folders) == 0 {
		t.Skip("set GIT_CHECKPOINT_TEST_SCAN to a list of folders")
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			files, found := scanFolder(t, folder)
			t.Logf("%d findings in %d files", found, files)
			require.NotZero(t, files)
			assert.Less(t, found*1000, files, "false positives must be below 1 per 1,000 files")
		})
	}
}

// scanFolder returns the numbers of files below a folder and of findings in these files.
func scanFolder(t *testing.T, folder string) (files, found int) {
	t.Helper()
	allow := Allow(strings.Split(os.Getenv("GIT_CHECKPOINT_TEST_SCAN_ALLOW"), ","))
	require.NoError(t, filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		result, err := Read(f)
		files++
		for _, x := range result.Findings {
			path, err := filepath.Rel(folder, name)
			require.NoError(t, err)
			if !IsInformational(x.Rule) && !allow.Has(x.Rule, filepath.ToSlash(path)) {
				t.Logf("%s:%d: %s", name, x.Line, x.Rule)
				found++
			}
		}
		return err
	}))
	return files, found
}
