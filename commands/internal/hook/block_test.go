package hook

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRemoveEmptiesFilesCreatedForTheBlock(t *testing.T) {
	t.Parallel()
	for _, text := range []string{File(PrePush, Style{}), File(PrePush, Style{Bare: true}), Wrapper(PrePush)} {
		rest, gone := Remove(text, PrePush)
		assert.True(t, gone, text)
		assert.Empty(t, rest)
		rest, gone = Remove(text+"make test\n", PrePush)
		assert.False(t, gone)
		assert.True(t, strings.HasSuffix(rest, "make test\n"))
		assert.Equal(t, Absent, Find(rest, PrePush))
	}
}

func TestFindDetectsEditedBlocks(t *testing.T) {
	t.Parallel()
	whole := Insert("#!/bin/sh\n", PrePush, Style{})
	for name, c := range map[string]struct {
		text string
		want Block
	}{
		"whole":           {whole, Whole},
		"another event":   {Insert("", PostCheckout, Style{}), Absent},
		"edited":          {strings.Replace(whole, "exit 0", "exit 1", 1), Edited},
		"no closing mark": {strings.Replace(whole, closing(PrePush), "", 1), Edited},
		"in the middle":   {"# not a >>> git-checkpoint pre-push >>>\n", Absent},
	} {
		assert.Equal(t, c.want, Find(c.text, PrePush), name)
	}
	cut := strings.Replace(whole, closing(PrePush), "", 1)
	rest, _ := Remove(cut, PrePush)
	assert.Equal(t, cut, rest, "without a closing mark nothing goes")
	assert.False(t, OnTop("make\n"+whole, PrePush))
}

func TestIsShell(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"#!/bin/sh\n": true, "#!/usr/bin/env bash\n": true, "#! /usr/bin/env -S zsh -f\n": true, "make\n": true,
		"#!/usr/bin/env python3\n": false, "#!/usr/bin/perl\n": false, "\x7fELF\x00": false, "#!/bin/sh": false,
		"#!/bin/sh\r\n": false, "#!\n": false, "#!/bin/busybox sh\n": true, "#!/usr/bin/env A=b sh\n": true, "#!/usr/bin/fish\n": false,
	} {
		assert.Equal(t, want, IsShell(text, Style{}), "%q", text)
	}
	assert.True(t, IsShell("#!/usr/bin/env python3\n", Style{Bare: true}), "husky gives it to sh")
}

func FuzzInsertRemove(f *testing.F) {
	f.Add("#!/bin/sh\nmake\n", false)
	f.Add("a\r\nb", true)
	f.Fuzz(func(t *testing.T, text string, bare bool) {
		s := Style{Bare: bare}
		if !IsShell(text, s) || Find(text, PrePush) != Absent {
			t.Skip()
		}
		out, gone := Remove(Insert(text, PrePush, s), PrePush)
		if out != text || gone {
			t.Fatalf("%q became %q", text, out)
		}
	})
}

// Only a refusal of pre-push stops git. A crash, a kill or a failed start of this program
// stops neither a push nor a checkout.
func TestOnlyARefusalStopsGit(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs sh")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "git-checkpoint")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\ncat >/dev/null\nexit $SAID\n"), 0o777))
	for _, e := range Events() {
		for form, c := range map[string]struct{ text, flag string }{
			"file":          {File(e, Style{}), "-u"},
			"husky":         {File(e, Style{Bare: true}), "-e"},
			"inserted":      {Insert("#!/bin/sh\nexit 0\n", e, Style{}), "-u"},
			"snippet":       {shebang + e.Snippet(), "-e"},
			"configuration": {shebang + e.ConfigCommand() + ` "$@"` + "\n", "-u"},
		} {
			path := filepath.Join(dir, form+"-"+string(e))
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o777))
			for _, said := range []int{0, 1, 2, 11, 13, 126, 127, 137, 139} {
				cmd := exec.Command("sh", c.flag, path, "origin", "url", "1")
				cmd.Stdin = strings.NewReader("refs/heads/a " + one + " refs/heads/a " + zero + "\n")
				cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), fmt.Sprintf("SAID=%d", said))
				out, err := cmd.CombinedOutput()
				stops := e == PrePush && (said == 11 || said == 13)
				assert.Equalf(t, stops, err != nil, "%s of %s, exit code %d: %v %s", form, e, said, err, out)
			}
		}
	}
}
