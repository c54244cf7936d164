package hooks

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestReadSession(t *testing.T) {
	const long = time.Minute
	stuck := sessionInput{StopActive: true}
	for _, c := range []struct {
		name, in string
		want     sessionInput
	}{
		{"whole", `{"session_id":"a","cwd":"/x"}`, sessionInput{SessionID: "a"}},
		{"again", `{"session_id":"a","stop_hook_active":true}` + "\n", sessionInput{SessionID: "a", StopActive: true}},
		{"nothing", "", stuck},
		{"cut", `{"session_id":"a"`, sessionInput{StopActive: true}},
		{"no object", "hello", stuck},
		{"prompt with parts", `{"prompt":[{"text":"x"}],"session_id":"a"}`, sessionInput{SessionID: "a", StopActive: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, readSession(strings.NewReader(c.in), long))
		})
	}

	open, w := io.Pipe() // never closed
	defer w.Close()
	assert.Equal(t, stuck, readSession(open, time.Millisecond))

	open, w = io.Pipe()
	defer w.Close()
	go io.WriteString(w, `{"session_id":"a"}`)
	assert.Equal(t, sessionInput{SessionID: "a"}, readSession(open, long), "its end is not waited for")
}
