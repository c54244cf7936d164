package commands

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint/tasks"
	"git-checkpoint/gitstore/failure"
	"git-checkpoint/gitstore/testing/gittest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// board returns the tasks of an issue, and the ids of the ready tasks.
func (v *victim) board(issue string) (all []tasks.Task, ready []string) {
	v.t.Helper()
	var list struct {
		Tasks []tasks.Task
		Ready []string
	}
	require.NoError(v.t, json.Unmarshal([]byte(v.tool("task", "list", "--issue", issue, "--json")), &list))
	return list.Tasks, list.Ready
}

// The worker is killed at each task: before the work, during the work, before `task
// done`, or during `task done`. After the resumes every task has been completed exactly
// once. A full run has 20 tasks.
func TestTasksKilled(t *testing.T) {
	gittest.Slow(t)
	v := newVictim(t)
	v.git("config", "checkpoint.issue-source", "none")
	v.git("config", "checkpoint.limits.task-retries", "9")
	tasks := max(8, dose(20))
	state := "tasks:\n"
	for n := range tasks {
		state += fmt.Sprintf("  T%d: {status: pending, output: out/T%d.json}\n", n+1, n+1)
	}
	require.Zero(t, outcomeOf(v.stdin(state, "save", "42", "--state", "-")).code)
	finished := map[string]int{}
	for i := 0; ; i++ {
		require.Less(t, i, 3*tasks, "it does not come to an end")
		v.resumeTasks()
		_, ready := v.board("42")
		if len(ready) == 0 {
			break
		}
		v.workOn(i, ready[0], finished)
	}
	all, _ := v.board("42")
	require.Len(t, all, tasks)
	for _, task := range all {
		assert.Equal(t, "complete", task.Status, task.ID)
		assert.Equal(t, 1, finished[task.ID], "%s came to its end", task.ID)
	}
	v.sound()
}

// workOn simulates a worker that dies at a task. The turn selects the moment.
func (v *victim) workOn(turn int, id string, finished map[string]int) {
	v.t.Helper()
	v.tool("task", "start", id, "--issue", "42")
	place := "out/" + id + ".json"
	switch turn % 5 {
	case 0:
		return // dies before the work
	case 1:
		v.write(place, `{"status": "comp`)
		return // dies during the work
	}
	v.write(place, `{"status": "complete"}`)
	finished[id]++
	switch turn % 5 {
	case 2:
		return // dies before the report
	case 3:
		cmd := v.command("git-checkpoint", "task", "done", id, "--output", place, "--issue", "42")
		require.NoError(v.t, cmd.Start())
		time.Sleep(rand.N(60 * time.Millisecond))
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return
	}
	v.tool("task", "done", id, "--output", place, "--issue", "42")
}

// resumeTasks resumes the work after any interruption.
func (v *victim) resumeTasks() {
	v.t.Helper()
	o := v.try("git-checkpoint", "resume", "42", "--auto", "--no-files")
	require.Zerof(v.t, o.code, "%s: %s", o.name, o.err)
	v.tool("task", "recover", "--issue", "42")
}

// Tasks that end at the same time are all recorded, including a failed task.
func TestTasksTogether(t *testing.T) {
	gittest.Slow(t)
	v := newVictim(t)
	v.git("config", "checkpoint.issue-source", "none")
	const workers = 8
	each := max(2, dose(20))
	var ids []string
	for n := range workers * each {
		ids = append(ids, fmt.Sprintf("T%d", n+1))
	}
	v.tool(append([]string{"task", "add", "--issue", "42"}, ids...)...)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for n := range each {
				id := ids[w*each+n]
				v.works("git-checkpoint", "task", "start", id, "--issue", "42")
				if n == 0 && w == 0 {
					v.works("git-checkpoint", "task", "fail", id, "--issue", "42")
					continue
				}
				v.works("git-checkpoint", "task", "done", id, "--issue", "42")
			}
		})
	}
	group.Wait()
	all, _ := v.board("42")
	require.Len(t, all, len(ids))
	for _, task := range all {
		want := "complete"
		if task.ID == ids[0] {
			want = "failed"
		}
		assert.Equal(t, want, task.Status, task.ID)
	}
}

// If several workers claim a task, exactly one succeeds.
func TestTaskClaimedOnce(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.git("config", "checkpoint.issue-source", "none")
	v.tool("task", "add", "T1", "--issue", "42")
	var group sync.WaitGroup
	var mu sync.Mutex
	codes := map[int]int{}
	for w := range 6 {
		group.Go(func() {
			o := v.try("git-checkpoint", "task", "start", "T1", "--by", fmt.Sprintf("w%d", w), "--issue", "42")
			mu.Lock()
			defer mu.Unlock()
			codes[o.code]++
		})
	}
	group.Wait()
	assert.Equal(t, map[int]int{failure.OK: 1, failure.Refused: 5}, codes)
}

// 16 workers save 8 stories, each with its own view of the progress, while a lead
// repeatedly writes the state of all stories. No update is lost.
func TestPipelineCrowd(t *testing.T) {
	gittest.Slow(t)
	v := newVictim(t)
	v.git("config", "checkpoint.issue-source", "none")
	const stories, workers = 8, 2
	each := max(2, dose(20))
	printed := make([]*saves, stories)
	lead := newSaves()
	var group sync.WaitGroup
	for s := range stories {
		printed[s] = newSaves()
		for w := range workers {
			group.Go(func() {
				for n := range each {
					o := outcomeOf(v.stdin(workerDocument(s, w, n, workers, each), "save", "--as", "pipeline", "--from", "-", "--no-prune"))
					assert.Zerof(t, o.code, "%s: %s", o.name, o.err)
					printed[s].add(t, o.out)
				}
			})
		}
	}
	var others beside
	others.pause = 100 * time.Millisecond
	others.loop(func(i int) {
		state := fmt.Sprintf(`{"complete":false,"team_name":"lead","story_state":{"S-0":"STAGE_2"},"last_check":"2026-02-14T14:00:00Z","beat":%d}`, i)
		o := outcomeOf(v.stdin(state, "save", "--as", "pipeline", "--from", "-", "--no-prune"))
		assert.Zerof(t, o.code, "%s: %s", o.name, o.err)
		lead.add(t, o.out)
	})
	group.Wait()
	others.stop()
	v.holds("lead", lead.ids)
	for s := range stories {
		issue := fmt.Sprintf("S-%d", s)
		v.holds(issue, printed[s].ids)
		all, _ := v.board(issue)
		assert.Len(t, all, workers*each)
		for _, task := range all {
			assert.Equal(t, "complete", task.Status, "%s of %s", task.ID, issue)
		}
	}
	v.sound()
	t.Logf("%d saves of workers, %d of the lead", stories*workers*each, len(lead.ids))
}

// stdin returns a git-checkpoint command with a text on standard input.
func (v *victim) stdin(text string, args ...string) *exec.Cmd {
	cmd := v.command("git-checkpoint", args...)
	cmd.Stdin = strings.NewReader(text)
	return cmd
}

// workerDocument returns a worker's document after n tasks. Completed tasks of the
// story's other worker count as remaining.
func workerDocument(s, w, n, workers, each int) string {
	var done, left []string
	for other := range workers {
		for k := range each {
			id := fmt.Sprintf("%q", fmt.Sprintf("T%d-%d", other, k))
			if other == w && k <= n {
				done = append(done, id)
			} else {
				left = append(left, id)
			}
		}
	}
	return fmt.Sprintf(`{"storyId":"S-%d","stage":2,"agentId":"w%d","tasksCompleted":[%s],"tasksRemaining":[%s],"lastAction":"task %d","timestamp":"2026-02-14T14:00:00Z"}`,
		s, w, strings.Join(done, ","), strings.Join(left, ","), n)
}
