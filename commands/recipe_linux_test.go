package commands

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"git-checkpoint/commands/resume"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRecipes runs the CI jobs of the guide ci in clones of a long history. The first job
// dies during the second phase.

// jobScript is the job's script, with two phases. The first phase writes a file that the
// second needs. The first job dies in the second phase.
const jobScript = `#!/bin/sh
phase=${1:-build}
echo "$phase" >>"$TRACE"
case $phase in
build)
	echo built >out.txt
	git checkpoint save --quiet --phase test --push --resume-from test
	echo test >>"$TRACE"
	;;
esac
if [ -e "$DIES" ]; then
	rm "$DIES"
	echo half >>out.txt
	kill -9 $$
fi
cat out.txt >"$TRACE.out"
`

func TestRecipes(t *testing.T) {
	gittest.Slow(t)
	for _, forge := range []string{"github", "gitlab", "gitlab-template"} {
		t.Run(forge, func(t *testing.T) {
			r, err := recipeJob(forge)
			require.NoError(t, err)
			j := newJobs(t)
			require.NoError(t, os.WriteFile(j.dies, nil, 0o666))
			first, _ := j.clone()
			assert.Equal(t, 137, j.run(first, r), "the job that dies")
			require.NoError(t, os.RemoveAll(first.dir))

			second, counted := j.clone()
			assert.Equal(t, 0, j.run(second, r), "the job after it")
			assert.Equal(t, "build\ntest\ntest\n", j.read(j.trace), "it begins where the first one was")
			assert.Equal(t, "built\nhalf\n", j.read(j.trace+".out"), "with the files as they were when it died")

			got := counted()
			t.Logf("fetched %d bytes from a repository of %d", got, j.size)
			assert.Greater(t, got, 500)
			assert.Less(t, got, 20_000)
			assert.Greater(t, j.size, 1_000_000)
		})
	}
}

// jobs is a remote with a long history and the shared state of a test's jobs.
type jobs struct {
	*victim
	hub         string
	dies, trace string
	size        int
	n           int
}

func newJobs(t *testing.T) *jobs {
	t.Helper()
	needs(t, "bash")
	v := newVictim(t)
	j := &jobs{victim: v, hub: v.path("../hub"), dies: v.path("../dies"), trace: v.path("../trace")}
	require.NoError(t, os.WriteFile(v.path("work.sh"), []byte(jobScript), 0o777))
	random := rand.NewChaCha8([32]byte{1})
	for k := range 30 {
		data := make([]byte, 50_000)
		_, _ = random.Read(data)
		require.NoError(t, os.WriteFile(v.path("data.bin"), data, 0o666))
		v.git("add", ".")
		v.git("commit", "-qm", fmt.Sprint("data ", k))
	}
	v.git("clone", "-q", "--bare", ".", j.hub)
	packs, err := filepath.Glob(filepath.Join(j.hub, "objects/pack/*.pack"))
	require.NoError(t, err)
	for _, pack := range packs {
		info, err := os.Stat(pack)
		require.NoError(t, err)
		j.size += int(info.Size())
	}
	if len(packs) == 0 {
		j.size = 30 * 50_000
	}
	return j
}

// clone returns a checkout as made by CI: shallow, detached, without an identity. The
// returned function counts bytes fetched since.
func (j *jobs) clone() (*victim, func() int) {
	j.t.Helper()
	j.n++
	dir := j.path(fmt.Sprintf("../job%d", j.n))
	j.git("clone", "-q", "--depth", "1", "file://"+j.hub, dir)
	v := &victim{t: j.t, dir: dir}
	for _, kv := range j.env {
		if key, _, _ := strings.Cut(kv, "="); !strings.HasPrefix(key, "GIT_AUTHOR_") && !strings.HasPrefix(key, "GIT_COMMITTER_") {
			v.env = append(v.env, kv)
		}
	}
	v.env = append(v.env, "CI=true", "DIES="+j.dies, "TRACE="+j.trace)
	v.git("checkout", "-q", "--detach")
	log := dir + ".fetched"
	tee := fmt.Sprintf("#!/bin/sh\ngit-upload-pack \"$@\" | tee -a '%s'\n", log)
	require.NoError(j.t, os.WriteFile(dir+".upload-pack", []byte(tee), 0o777))
	v.git("config", "remote.origin.uploadpack", dir+".upload-pack")
	return v, func() int { return len(j.read(log)) }
}

func (j *jobs) read(name string) string {
	j.t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(j.t, err)
	return string(data)
}

// run runs a job in a clone. The clone's program is the one on PATH, so the release that
// the job installs is empty.
func (j *jobs) run(v *victim, job string) int {
	j.t.Helper()
	release := v.dir + ".tar.gz"
	require.NoError(j.t, os.MkdirAll(v.dir+".release/git-checkpoint/bin", 0o777))
	require.NoError(j.t, exec.Command("tar", "-czf", release, "-C", v.dir+".release", "git-checkpoint").Run())
	sum, err := exec.Command("sha256sum", release).Output()
	require.NoError(j.t, err)
	cmd := v.command("bash", "-c", job)
	cmd.Env = append(slices.Clone(v.env), "CHECKPOINT_RELEASE=file://"+release, "GITHUB_RUN_ID=7", "CI_PIPELINE_ID=7", "CHECKPOINT_SHA256="+string(sum[:64]), "CI_JOB_NAME_SLUG=work")
	o := outcomeOf(cmd)
	j.t.Logf("%s\n%s\nexit %d", o.out, o.err, o.code)
	return o.code
}

// parseOutputs parses the outputs of a step like the runner.
func (j *jobs) parseOutputs(file string) map[string]string {
	j.t.Helper()
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(j.t, err)
	outputs := map[string]string{}
	lines := strings.Split(string(bytes.TrimSuffix(data, []byte("\n"))), "\n")
	for len(lines) > 0 {
		name, delimiter, found := strings.Cut(lines[0], "<<")
		require.True(j.t, found, lines[0])
		end := slices.Index(lines[1:], delimiter)
		require.GreaterOrEqual(j.t, end, 0, "%s has no end", name)
		outputs[name] = strings.Join(lines[1:1+end], "\n")
		lines = lines[end+2:]
	}
	return outputs
}

// A value that contains the end of its block or the start of another block stays one
// value.
func TestOutputLines(t *testing.T) {
	t.Parallel()
	vars := []resume.Variable{{Name: "CHECKPOINT_ACTION", Value: "resume"}, {Name: "CHECKPOINT_RESUME_FROM", Value: "a\nend_X\ncheckpoint_action<<E\nstart_fresh\nE\x00"}}
	file := filepath.Join(t.TempDir(), "output")
	require.NoError(t, os.WriteFile(file, []byte(resume.OutputLines(vars, "RANDOM")), 0o666))
	got := (&jobs{victim: &victim{t: t}}).parseOutputs(file)
	assert.Equal(t, map[string]string{
		"checkpoint_action":      "resume",
		"checkpoint_resume_from": "a\nend_X\ncheckpoint_action<<E\nstart_fresh\nE",
	}, got)
}
