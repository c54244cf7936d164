package work

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"

	"git-checkpoint/commands/internal/invoke"
	"git-checkpoint/gitstore/trace"
)

// quiet prevents credential programs from prompting. No person may be present, and no
// prompt is expected.
var quiet = []string{
	"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never",
	"GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1",
}

// tokenVariables are removed from gh's environment, because gh sends these tokens to any
// requested host.
var tokenVariables = []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_DEBUG", "DEBUG"}

// runQuietly runs git or gh to get a credential. Their standard error is discarded.
func runQuietly(c *invoke.Invocation, ctx context.Context, stdin, name string, args ...string) (string, error) {
	if name == "git" {
		out, err := c.Store.Git().With(quiet...).Pipe(ctx, []byte(stdin), args...)
		return string(out), err
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	defer trace.Begin(trace.Process, trace.Words(path, args)).End()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin, cmd.WaitDelay = strings.NewReader(stdin), 100*time.Millisecond
	cmd.Env = append(slices.DeleteFunc(slices.Clone(c.Env.Environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(tokenVariables, name)
	}), quiet...)
	out, err := cmd.Output()
	return string(out), err
}
