package odb_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"git-checkpoint/gitstore/testing/odbtest"

	"github.com/stretchr/testify/require"
)

// TestReadRepositories compares the reader with git in all repositories below
// GIT_CHECKPOINT_TEST_REPOSITORIES, such as those of git's test suite.
func TestReadRepositories(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("GIT_CHECKPOINT_TEST_REPOSITORIES")
	if dir == "" {
		t.Skip("set GIT_CHECKPOINT_TEST_REPOSITORIES to a folder of repositories")
	}
	repositories, err := odbtest.Repositories(dir)
	require.NoError(t, err)
	require.NotEmpty(t, repositories, "no repository below %s", dir)
	sum := map[string]int{}
	for _, r := range repositories {
		c, err := odbtest.Compare(t.Context(), r, 100_000)
		if err != nil {
			t.Logf("%s: %v", r, err)
			sum["stopped"]++
			continue
		}
		sum["repositories"]++
		sum["objects"] += c.Objects
		sum["contents"] += c.Contents
		if c.Refused != "" {
			sum["refused by git"]++
			t.Logf("%s: git: %.200s", r, c.Refused)
		}
		if len(c.Differ) > 0 {
			sum["differ"]++
			t.Errorf("%s: %s", r, strings.Join(c.Differ[:min(5, len(c.Differ))], "\n"))
		}
	}
	text, _ := json.Marshal(sum)
	t.Logf("%s", text)
}
