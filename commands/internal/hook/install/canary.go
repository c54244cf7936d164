package install

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"git-checkpoint/commands/internal/hook"
	"git-checkpoint/gitstore"
)

// canaryTime limits a canary's run time.
const canaryTime = 10 * time.Second

// CanaryVariable is the environment variable of a canary run. A hook with this variable
// prints its value and does nothing else.
const CanaryVariable = "GIT_CHECKPOINT_CANARY"

// configCanary returns the command that runs only this program's hook in git's
// configuration, without other configured hooks and hook files.
func (r *Repo) configCanary(e hook.Event) []string {
	args := append([]string{"git", "-c", "core.hooksPath=" + os.DevNull}, r.silencing("hook."+e.ConfigName())...)
	return append(args, "hook", "run", string(e), "--", "canary", "canary")
}

// silencing returns flags that disable all hooks in git's configuration except one.
func (r *Repo) silencing(but string) []string {
	var flags []string
	for _, entry := range r.Config {
		section, ok := strings.CutSuffix(entry.Key, ".event")
		if ok && strings.HasPrefix(section, "hook.") && section != but {
			flags = append(flags, "-c", section+".enabled=false")
		}
	}
	return flags
}

// fileCanary returns the command that runs the hook file, with `git hook run` if git
// supports it. The block at the top of the file ends a canary run.
func (r *Repo) fileCanary(e hook.Event, version gitstore.GitVersion) []string {
	if version.AtLeast(2, 36) {
		return append(append([]string{"git"}, r.silencing("")...), "hook", "run", string(e), "--", "canary", "canary")
	}
	dir := filepath.Join(r.CommonDir, "hooks")
	if path, err := r.hooksPath(); err == nil {
		dir = path
	}
	return []string{filepath.Join(dir, string(e)), "canary", "canary"}
}

// canary runs a command and reports whether this program's hook printed the canary word.
func (r *Repo) canary(argv []string) (runs bool, why string) {
	ctx, cancel := context.WithTimeout(r.Context, canaryTime)
	defer cancel()
	word := rand.Text()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = cmp.Or(r.Root, r.CommonDir)
	cmd.Env = append(os.Environ(), CanaryVariable+"="+word, "LC_ALL=C")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case strings.Contains(string(out), word):
		return true, ""
	case err != nil:
		return false, fmt.Sprintf("%v: %s", err, strings.TrimSpace(string(out)))
	}
	return false, cmp.Or(strings.TrimSpace(string(out)), "git ran nothing of ours; is git-checkpoint on PATH?")
}
