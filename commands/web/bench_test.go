package web

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/require"
)

// long creates an issue with n checkpoints: copies of a real checkpoint and a real
// checkpoint at the tip.
func (w *world) long(b *testing.B, n int) {
	first := w.save("1003", "p", checkpoint.Manual, "the first", nil)
	show := func(what string) string { return w.git("rev-parse", first.Commit.String()+what) }
	tree, index, genesis := show("^{tree}"), show("^2"), show("^1")
	message := w.git("log", "-1", "--format=%B", first.Commit.String())
	var in bytes.Buffer
	for i := range n - 2 { // a save restores the first checkpoint
		id := fmt.Sprintf("CP-p-20260101T000000Z-%08x", i)
		text := strings.ReplaceAll(message, string(first.ID), id)
		fmt.Fprintf(&in, "commit refs/checkpoints/1003\nmark :%d\nauthor Ann <a@example.com> %d +0000\ncommitter Ann <a@example.com> %d +0000\ndata %d\n%s\n",
			i+1, 1770000000+i*60, 1770000000+i*60, len(text), text)
		from := genesis
		if i > 0 {
			from = fmt.Sprintf(":%d", i)
		}
		fmt.Fprintf(&in, "from %s\nmerge %s\nM 040000 %s \n\n", from, index, tree)
	}
	w.feed(b, &in, "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--force")
	w.save("1003", "q", checkpoint.Manual, "the last", nil)
	require.Equal(b, fmt.Sprint(n), w.git("rev-list", "--count", "--first-parent", genesis+"..refs/checkpoints/1003"))
}

func (w *world) feed(b *testing.B, in *bytes.Buffer, args ...string) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = w.dir, in
	out, err := cmd.CombinedOutput()
	require.NoError(b, err, string(out))
}

// visits benchmarks repeated page requests; with cold, each request uses a new server.
func (w *world) visits(b *testing.B, name, path string, cold bool) {
	b.Run(name, func(b *testing.B) {
		size := 0
		for range b.N {
			if cold {
				w.page = newGuard(testToken, "c", "", contentPolicy, newSite(w.o).handler())
			}
			r := httptest.NewRequest("GET", path, nil)
			r.Host = "localhost"
			r.AddCookie(&http.Cookie{Name: "c", Value: testToken})
			answer := httptest.NewRecorder()
			w.page.ServeHTTP(answer, r)
			require.Equal(b, http.StatusOK, answer.Code)
			size = answer.Body.Len()
		}
		b.ReportMetric(float64(size), "bytes/page")
	})
}

// against benchmarks git on the same data.
func (w *world) against(b *testing.B, name string, args ...string) {
	b.Run(name, func(b *testing.B) {
		for range b.N {
			cmd := exec.Command("git", args...)
			cmd.Dir = w.dir
			require.NoError(b, cmd.Run())
		}
	})
}

// BenchmarkTimeline requests timeline pages with 10,000 checkpoints.
func BenchmarkTimeline(b *testing.B) {
	n := 10_000
	if testing.Short() {
		n = 300
	}
	w := newWorld(b, false)
	w.long(b, n)
	middle := fmt.Sprintf("/i/1003?page=%d", n/PageSize/2)
	w.visits(b, "first", "/i/1003", true)
	w.visits(b, "middle-cold", middle, true)
	w.visits(b, "middle", middle, false)
	w.visits(b, "search", "/i/1003?q=CP-p-20260101T000000Z-0000000a", false)
	w.against(b, "git-log-100", "log", "-100", "--first-parent", "--format=%H%n%B", "refs/checkpoints/1003")
	w.against(b, "git-log", "log", "--first-parent", "--format=%H%n%B", "refs/checkpoints/1003")
}

// BenchmarkDiff compares snapshots of 100,000 files with ten changed files.
func BenchmarkDiff(b *testing.B) {
	n := 100_000
	if testing.Short() {
		n = 2000
	}
	w := newWorld(b, false)
	var in bytes.Buffer
	in.WriteString("commit refs/heads/main\ncommitter Ann <a@example.com> 1770000000 +0000\ndata 1\nx\n")
	for i := range n {
		fmt.Fprintf(&in, "M 100644 inline d%03d/e%d/f%02d.txt\ndata 2\n%d\n\n", i/1000, i/100%10, i%100, i%10)
	}
	w.feed(b, &in, "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--force")
	w.git("read-tree", "HEAD")
	var saved []string
	for round := range 2 {
		for i := range 10 {
			path := fmt.Sprintf("d%03d/e0/f00.txt", i*n/10/1000)
			w.write(path, fmt.Sprintf("round %d\n", round))
			w.git("add", path)
		}
		saved = append(saved, w.save("42", "p", checkpoint.Manual, "", nil).Commit.String())
	}
	w.visits(b, "page", "/i/42/c/"+saved[1]+"/diff", true)
	w.against(b, "git-diff", "diff", saved[0]+":staged", saved[1]+":staged")
	w.against(b, "git-diff-cached", "diff", "--cached")
}

// BenchmarkPolls answers the polls of open pages while nothing is saved. The metric is the
// part of a core that 100 open pages use: each polls every three seconds, and all share one
// look at the refs per second.
func BenchmarkPolls(b *testing.B) {
	w := newWorld(b, false)
	for i := range 50 {
		w.save(fmt.Sprint(i+1), "p", checkpoint.Manual, "one", nil)
	}
	const pages, every = 100, 3 * time.Second
	state, err := w.site.look(b.Context())
	require.NoError(b, err)
	poll := func() {
		answer := w.ask("GET", "/live?since=0", "", func(r *http.Request) { r.Header.Set("If-None-Match", `"`+state+`"`) })
		require.Equal(b, http.StatusNotModified, answer.Code)
	}
	started := time.Now()
	looks := 20
	for range looks {
		w.site.watch.at = time.Time{}
		poll()
	}
	look := time.Since(started) / time.Duration(looks)
	b.ResetTimer()
	for range b.N {
		poll()
	}
	each := b.Elapsed() / time.Duration(b.N)
	used := float64(each)*pages/float64(every) + float64(look)/float64(watchEvery)
	b.ReportMetric(100*used, "%core/100pages")
}
