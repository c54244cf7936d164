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

	"git-checkpoint/commands/hook"
	"git-checkpoint/gitstore/gitcmd"
)

// canaryTime bounds a canary's run.
const canaryTime = 10 * time.Second

// CanaryVariable holds a word that a hook of ours says when it is called,
// instead of doing anything.
const CanaryVariable = "GIT_CHECKPOINT_CANARY"

// configCanary runs the event's hooks in git's configuration without those of
// others, and no hook file.
func (r *Repo) configCanary(e hook.Event) []string {
	args := append([]string{"git", "-c", "core.hooksPath=" + os.DevNull}, r.silencing("hook."+e.ConfigName())...)
	return append(args, "hook", "run", string(e), "--", "canary", "canary")
}

// silencing are the flags that switch the hooks in git's configuration off,
// but one.
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

// fileCanary runs the hook file that git would run, through git where that can
// be asked to. The block is at its top, and lets a canary go no further.
func (r *Repo) fileCanary(e hook.Event, version gitcmd.Version) []string {
	if version.AtLeast(2, 36) {
		return append(append([]string{"git"}, r.silencing("")...), "hook", "run", string(e), "--", "canary", "canary")
	}
	dir := filepath.Join(r.CommonDir, "hooks")
	if path, err := r.hooksPath(); err == nil {
		dir = path
	}
	return []string{filepath.Join(dir, string(e)), "canary", "canary"}
}

// canary runs a command that should lead to a hook of ours, and listens.
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
