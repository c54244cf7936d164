package git

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"": "git printed no error",
		"ssh: connect to host x port 22: Connection refused\nfatal: Could not read from remote repository.\n\nPlease make sure":                                       "ssh: connect to host x port 22: Connection refused",
		"Warning: Permanently added 'x'\nfatal: unable to access 'https://a:b@x/y/': Could not resolve host: x":                                                       "unable to access 'https://x/y/': Could not resolve host: x",
		"** WARNING: not post-quantum\n** See https://openssh.com/pq.html\ngit@host: Permission denied (publickey).\nfatal: Could not read from remote repository.\n": "git@host: Permission denied (publickey).",
		"Welcome to example.com\n\nOnly for staff\nERROR: Repository not found.\nfatal: Could not read from remote repository.\n":                                     "ERROR: Repository not found.",
		"Welcome\nFATAL: R any a ann DENIED by fallthru\n(or you mis-spelled the reponame)\nfatal: Could not read from remote repository.\n":                          "FATAL: R any a ann DENIED by fallthru",
		"Welcome\nReceived disconnect from ::1: Too many failures\nDisconnected from ::1\nfatal: Could not read from remote repository.\n":                            "Received disconnect from ::1: Too many failures",
		"Welcome\nfatal: couldn't find remote ref refs/x\n":                                                                                                           "couldn't find remote ref refs/x",
		"fatal: Could not read from remote repository.\n":                                                                                                             "Could not read from remote repository.",
		"ssh: connect to host b port 1: Connection refused\nConnection closed by UNKNOWN port 65535\nfatal: Could not read from remote repository.\n":                 "ssh: connect to host b port 1: Connection refused",
		"git: 'remote-foo' is not a git command. See 'git --help'.\nfatal: remote helper 'foo' aborted session\n":                                                     "git: 'remote-foo' is not a git command. See 'git --help'.",
		"refs are frozen\nfatal: in 'prepared' phase, update aborted by the reference-transaction hook\n":                                                             "refs are frozen",
		"closed today\nfatal: the remote end hung up unexpectedly\n":                                                                                                  "closed today",
		"hint: y\nFrom /hub\nremote: full\nfatal: the remote end hung up\n":                                                                                           "full",
	} {
		assert.Equal(t, want, explain(said))
	}
}

// TestServerReasonIsFoundInItsOutput checks that the server's reason is returned for
// various output formats.
func TestServerReasonIsFoundInItsOutput(t *testing.T) {
	t.Parallel()
	const frame = "remote: \nremote: ========================================================================\nremote: \n"
	for _, c := range []struct{ name, said, want string }{
		{"Gitea", "remote: error: \nremote: error: User permission denied for writing.        \nremote: error: \n", "User permission denied for writing."},
		{"Gitea, without the space", "remote: error:\nremote: error: User permission denied for writing.\n", "User permission denied for writing."},
		{"GitLab over ssh", frame + "remote: ERROR: You are not allowed to push code to this project.\n" + frame + "fatal: Could not read from remote repository.\n", "ERROR: You are not allowed to push code to this project."},
		{"GitLab", "remote: GitLab: You are not allowed to push code to protected branches on this project.\n", "GitLab: You are not allowed to push code to protected branches on this project."},
		{"GitHub", "remote: error: GH006: Protected branch update failed for refs/checkpoints/42.        \nremote: error: At least 1 approving review is required.        \n", "GH006: Protected branch update failed for refs/checkpoints/42. At least 1 approving review is required."},
		{"GitHub's rules", "remote: error: GH013: Repository rule violations found for refs/checkpoints/42.\nremote: Review all repository rules at https://github.com/a/b/rules\nremote: \nremote: - Cannot create ref due to creations being restricted.\n", "GH013: Repository rule violations found for refs/checkpoints/42."},
		{"Bitbucket", "remote: -----------------------\nremote: Branch refs/heads/main can only be modified through pull requests.\nremote: -----------------------\n", "Branch refs/heads/main can only be modified through pull requests."},
		{"JGit", "remote: Resolving deltas: 100% (1/1)\rremote: Resolving deltas: 100% (1/1)\nremote: Updating references:   0% (0/1)\rremote: Updating references: 100% (1/1)\rremote: Updating references: 100% (1/1), done\nremote: closed for today\n", "closed for today"},
		{"JGit without a reason", "remote: Updating references:   0% (0/1)\rremote: Updating references: 100% (1/1)\n", ""},
		{"Gerrit", "remote: Processing changes: refs: 1, done    \nremote: error: branch refs/checkpoints/42:\nremote: You need 'Push' rights.\nremote: User: ann\n", "branch refs/checkpoints/42: You need 'Push' rights."},
		{"Azure", "remote: Analyzing objects... (3/3) (4 ms)        \nremote: Storing packfile... done (51 ms)        \nremote: Storing index... done (46 ms)        \nremote: TF402455: Pushes to this branch are not permitted.\n", "TF402455: Pushes to this branch are not permitted."},
		{"colours", "remote: \x1b[31merror: closed\x1b[0m\x1b[K\n", "closed"},
		{"git about a hook", "remote: protected        \nremote: error: hook declined to update refs/checkpoints/42        \n", "protected"},
		{"a hook's own words", "remote: quota exceeded: 10 MB\nremote: ask ann\n", "quota exceeded: 10 MB"},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, RemoteSays(c.said)) })
	}
	assert.Equal(t, "ERROR: You are not allowed to push code to this project.", explain(frame+"remote: ERROR: You are not allowed to push code to this project.\n"+frame+"fatal: Could not read from remote repository.\n"))
	assert.Equal(t, "the remote end hung up unexpectedly", explain("remote: Updating references:  50% (1/2)\rremote: Updating references: 100% (2/2)\nfatal: the remote end hung up unexpectedly\n"))
}
