package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync"
	"testing"
	"time"

	"git-checkpoint/commands/internal/view"
	"git-checkpoint/gitstore"
	"git-checkpoint/gitstore/checkpoint"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSplitAddr(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"127.0.0.1:0": "127.0.0.1 0", "8042": "127.0.0.1 8042", ":8042": "127.0.0.1 8042", "[::1]:80": "::1 80", "localhost:1": "localhost 1", "0.0.0.0:5": "0.0.0.0 5",
	} {
		host, port, err := splitAddr(addr)
		require.NoError(t, err, addr)
		assert.Equal(t, want, host+" "+port)
	}
	for _, addr := range []string{"", "x", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999", "a:b:c", "::1"} {
		_, _, err := splitAddr(addr)
		assert.Error(t, err, addr)
	}
}

// The printed URL grants access, and shutdown waits for running requests.
func TestServeFinishesRunningRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	w.work()
	reading, goOn := make(chan bool), make(chan bool)
	open, once := w.o.Open, sync.Once{}
	w.o.Open = func(ctx context.Context) (*Repository, error) {
		repo, err := open(ctx)
		if err != nil {
			return nil, err
		}
		judge := repo.Judge
		repo.Judge = func(c *gitstore.Checkpoint, r *checkpoint.Record) (*view.Standing, error) {
			once.Do(func() { reading <- true; <-goOn })
			return judge(c, r)
		}
		return repo, nil
	}
	s, err := Listen("127.0.0.1:0", w.o)
	require.NoError(t, err)
	assert.True(t, s.Loopback())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()

	answer, err := http.Get(strings.Split(s.URL(""), "?")[0])
	require.NoError(t, err)
	answer.Body.Close()
	assert.Equal(t, http.StatusUnauthorized, answer.StatusCode)

	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	client := &http.Client{Jar: jar, Timeout: 2 * time.Minute}
	page := make(chan string, 1)
	go func() {
		answer, err := client.Get(s.URL(links{}.issue("42")[1:]))
		if err != nil {
			page <- err.Error()
			return
		}
		defer answer.Body.Close()
		data, _ := io.ReadAll(answer.Body)
		page <- string(data)
	}()
	<-reading
	stop()
	goOn <- true
	has(t, <-page, "Sign out everywhere")
	select {
	case err := <-ended:
		require.NoError(t, err)
	case <-time.After(2 * time.Minute):
		t.Fatal("Serve does not end")
	}
	_, err = s.listener.Accept() // a connection could reach a later listener at the same port
	assert.ErrorIs(t, err, net.ErrClosed)
}

// The number of concurrent reads is limited, and a request that waits too long receives
// an error.
func TestConcurrentRequestsAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, false)
	for range maxAtOnce {
		w.site.slots <- struct{}{}
	}
	answer := w.ask("GET", "/", "", func(r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 10*time.Millisecond)
		t.Cleanup(cancel)
		*r = *r.WithContext(ctx)
	})
	assert.Equal(t, http.StatusServiceUnavailable, answer.Code)
	<-w.site.slots
	assert.Equal(t, http.StatusOK, w.ask("GET", "/", "", nil).Code)
}
