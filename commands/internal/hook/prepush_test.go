package hook

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	one  = "1111111111111111111111111111111111111111"
	zero = "0000000000000000000000000000000000000000"
)

func TestParseUpdates(t *testing.T) {
	t.Parallel()
	got, err := ParseUpdates(strings.NewReader("refs/heads/a " + one + " refs/heads/b " + zero + "\n" +
		"(delete) " + zero + " refs/heads/c " + one + "\n" + "HEAD@{1 day ago} " + one + " refs/heads/d " + one + "\n" +
		"refs/tags/v1 " + one + " refs/tags/v1 " + zero + "\n"))
	require.NoError(t, err)
	var branches []string
	for _, u := range got {
		branches = append(branches, u.Branch())
	}
	assert.Equal(t, []string{"a", "", "d", ""}, branches)
	assert.True(t, got[1].Deletes())
	got, err = ParseUpdates(strings.NewReader(""))
	require.NoError(t, err)
	assert.Empty(t, got)
	for _, text := range []string{"x\n", "a b c d\n", "a " + one + " b\n", "a " + one + " b " + strings.ToUpper("a"+one[1:]) + "\n"} {
		_, err := ParseUpdates(strings.NewReader(text))
		assert.Error(t, err, text)
	}
}

func TestIsDryPush(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][2]bool{
		"git push":                            {true, false},
		"/usr/bin/git push --dry-run o main":  {true, true},
		"git push -n":                         {true, true},
		"git push -fn o":                      {true, true},
		"git push --dry":                      {true, true},
		"git push -o n":                       {true, false},
		"git push -on":                        {true, false},
		"git push -vno n":                     {true, true},
		"git push -n --no-dry-run":            {true, false},
		"git push -- -n":                      {true, false},
		"git push --delete o x":               {true, false},
		"git -C dir -c a.b=push push -n":      {true, true},
		"git -c a.b=c fetch -n":               {false, false},
		"git-push -n":                         {true, true},
		"sh push -n":                          {false, false},
		"git push --repo -n":                  {true, false},
		"git --git-dir=x --no-pager push o a": {true, false},
		"git":                                 {false, false},
	} {
		push, dry := IsDryPush(strings.Fields(line))
		assert.Equal(t, want, [2]bool{push, dry}, line)
	}
	push, _ := IsDryPush(nil)
	assert.False(t, push)
}

func TestGitCommand(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"git checkout -q x": "checkout", "git -c a.b=switch rebase main": "rebase", "/usr/lib/git-core/git-pull -q": "pull",
		"sh -c git": "", "git": "", "git --version": "",
	} {
		name, _ := GitCommand(strings.Fields(line))
		assert.Equal(t, want, name, line)
	}
}

func FuzzParseUpdates(f *testing.F) {
	f.Add("refs/heads/a " + one + " refs/heads/b " + zero + "\n")
	f.Add(" \n")
	f.Fuzz(func(t *testing.T, text string) {
		updates, err := ParseUpdates(strings.NewReader(text))
		if err != nil {
			t.Skip()
		}
		for _, u := range updates {
			if !isObject(u.Local) || !isObject(u.Remote) {
				t.Fatalf("%q", u)
			}
		}
	})
}
