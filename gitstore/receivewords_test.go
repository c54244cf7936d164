package gitstore

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/require"
)

// Variables for the test binary if git starts it as git-receive-pack.
const (
	wordsVar     = "GIT_CHECKPOINT_TEST_WORDS"
	serverGitVar = "GIT_CHECKPOINT_TEST_SERVER_GIT" // folder of a server's git, used by tests as well
)

func TestMain(m *testing.M) {
	if words, ok := os.LookupEnv(wordsVar); ok {
		if err := receiveInWords(os.Args[1], words); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(gittest.Main(m))
}

// refusingWords are server messages for rejected refs that another push has moved or
// locked. %s stands for the ref.
var refusingWords = map[string]string{
	"GitHub":                "cannot lock ref '%s': is at 1111111111111111111111111111111111111111 but expected 2222222222222222222222222222222222222222",
	"GitHub, for a new ref": "cannot lock ref '%s': reference already exists",
	"git 2.51":              "reference already exists",
	"GitLab":                "pre-receive hook declined",
	"Gitea":                 "failed to update ref",
	"JGit":                  "failed to lock",
	"Gerrit":                "lock error: LOCK_FAILURE",
	"Azure":                 "TF401028: The reference '%s' has already been updated by another client, so you cannot update it. Please try again.",
	"Bitbucket":             "The ref %s was changed by someone else",
	"an unknown server":     "try again tomorrow",
}

// answersIn makes a clone's remote reject refs with a server message, or git's own
// message if words is "". serverGitVar selects the server's git, if set.
func (w *world) answersIn(words string) {
	w.t.Helper()
	self, err := os.Executable()
	require.NoError(w.t, err)
	w.Git("config", "remote.origin.uploadpack", uploadPack())
	w.Git("config", "remote.origin.receivepack", quote(filepath.Join(serverGit, "git"))+" receive-pack")
	if words != "" {
		w.Git("config", "remote.origin.receivepack", fmt.Sprintf("env %s=%s %s=%s %s", wordsVar, quote(words), serverGitVar, quote(serverGit), quote(self)))
	}
	w.s = w.open(w.Dir)
}

// quote quotes text as one shell word.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func uploadPack() string { return quote(filepath.Join(serverGit, "git")) + " upload-pack" }

// serverGit is read before newWorld clears the variable.
var serverGit = os.Getenv(serverGitVar)

// receiveInWords runs git receive-pack and replaces the reason of every rejection.
func receiveInWords(dir, words string) error {
	cmd := exec.Command(filepath.Join(serverGit, "git"), "receive-pack", dir)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	from := bufio.NewReader(out)
	for {
		line, err := readPacket(from)
		if err != nil {
			break
		}
		// Without a side band, the report uses separate lines.
		line = bytes.Replace(line, []byte(" side-band-64k"), nil, 1)
		if rest, ok := bytes.CutPrefix(line, []byte("ng ")); ok {
			ref, _, _ := strings.Cut(string(rest), " ")
			line = fmt.Appendf(nil, "ng %s %s\n", ref, strings.ReplaceAll(words, "%s", ref))
		}
		if line == nil {
			_, err = os.Stdout.WriteString("0000")
		} else {
			_, err = fmt.Fprintf(os.Stdout, "%04x%s", len(line)+4, line)
		}
		if err != nil {
			return err
		}
	}
	return cmd.Wait()
}

// readPacket reads a line of git's protocol, or nil at a section's end.
func readPacket(r io.Reader) ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(string(head), 16, 16)
	if err != nil || n < 4 {
		return nil, err
	}
	line := make([]byte, n-4)
	_, err = io.ReadFull(r, line)
	return line, err
}
