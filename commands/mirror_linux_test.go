package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"git-checkpoint/gitstore/layout"
	"git-checkpoint/gitstore/layout/pipeline"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Workers save the checkpoints of stories, two workers per story, while a lead writes its
// state into the mirrored folder and readers read all files. Every printed id is in its
// chain, every file is complete at every moment, and at the end the files match the
// store.
func TestMirrorWithConcurrentWorkers(t *testing.T) {
	gittest.Slow(t)
	v := newVictim(t)
	v.git("config", "checkpoint.mirror", "pipeline")
	dir := filepath.Join(v.dir, ".pipeline")
	require.NoError(t, os.Mkdir(dir, 0o777))
	workers, rounds := dose(16)*4, dose(16)
	if workers > 16 {
		workers = 16
	}
	b := &beside{pause: time.Millisecond}
	var reads, states atomic.Int64
	b.loop(func(int) { reads.Add(wholeFiles(t, dir)) })
	lead := &beside{pause: 100 * time.Millisecond}
	lead.loop(func(round int) {
		assert.NoError(t, renamed(dir, "state.json", leadState(round)))
		states.Add(1)
	})

	var group sync.WaitGroup
	ids := make([][]string, workers)
	for w := range workers {
		group.Go(func() {
			for round := range rounds {
				file := filepath.Join(t.TempDir(), "story.json")
				assert.NoError(t, os.WriteFile(file, []byte(storyOf(w, round)), 0o666))
				o := v.works("git-checkpoint", "save", "--as", "pipeline", "--from", file, "--no-prune", "-q")
				ids[w] = append(ids[w], o.out)
			}
		})
	}
	group.Wait()
	lead.stop()
	v.must("git-checkpoint", "list", "lead")
	b.stop()
	assert.Positive(t, states.Load())
	assert.Greater(t, reads.Load(), int64(workers*rounds))

	for w, printed := range ids {
		chain := v.must("git-checkpoint", "list", storyName(w), "-q")
		for _, id := range printed {
			assert.Contains(t, chain, id)
		}
		out := t.TempDir()
		v.must("git-checkpoint", "export", storyName(w), "--as", "pipeline", "--dir", out)
		file := "checkpoint-" + storyName(w) + ".json"
		assert.True(t, read(t, out, file) == read(t, dir, file), "%s is not what the store has", file)
	}
	assert.Contains(t, v.must("git-checkpoint", "show", "lead", "--get", "layout.files.state.document.last_check"), lastCheck(int(states.Load())-1))
	left, err := filepath.Glob(filepath.Join(dir, "*.tmp"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func storyName(worker int) string { return fmt.Sprintf("S-%d", worker/2) }

func storyOf(worker, round int) string {
	return fmt.Sprintf(`{"storyId": %q, "stage": 2, "agentId": "w%d", "tasksCompleted": ["T%d"], "tasksRemaining": ["end"], "lastAction": "%s", "timestamp": "2026-01-02T03:04:05Z"}`+"\n",
		storyName(worker), worker, round, strings.Repeat("x", 4096))
}

func lastCheck(round int) string { return fmt.Sprintf("2026-01-02T03:%02d:%02dZ", round/60, round%60) }

func leadState(round int) string {
	return fmt.Sprintf(`{"complete":false,"team_name":"lead","last_check":%q,"story_state":{},"infra_issues":[{"message":%q}]}`+"\n",
		lastCheck(round), strings.Repeat("y", 8192))
}

// renamed writes a file by a rename, as agents are told to.
func renamed(dir, name, text string) error {
	temp := filepath.Join(dir, name+".tmp")
	if err := os.WriteFile(temp, []byte(text), 0o666); err != nil {
		return err
	}
	return os.Rename(temp, filepath.Join(dir, name))
}

// wholeFiles reads every document of a folder and asserts complete content.
func wholeFiles(t *testing.T, dir string) int64 {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	assert.NoError(t, err)
	for _, name := range files {
		data, err := os.ReadFile(name)
		if !assert.NoError(t, err) {
			continue
		}
		f, err := layout.Read(pipeline.Name, ".pipeline/"+filepath.Base(name), data)
		if assert.NoErrorf(t, err, "%s: %s", name, data) {
			assert.NoError(t, f.Err(false))
		}
	}
	return int64(len(files))
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(data)
}
