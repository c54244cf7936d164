package commands

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Nothing is written before it is time, nor after the end, and the line goes.
func TestTicker(t *testing.T) {
	var out bytes.Buffer
	tick := &ticker{w: &out, what: "sync: origin", ended: make(chan struct{})}
	tick.at(3, 10)
	assert.Empty(t, out.String())
	tick.write()
	assert.Equal(t, "\r\x1b[Ksync: origin: 3 of 10 issues", out.String())
	tick.end()
	tick.end()
	tick.write()
	assert.Equal(t, "\r\x1b[Ksync: origin: 3 of 10 issues\r\x1b[K", out.String())
}

func TestTickerOfShortThings(t *testing.T) {
	var out bytes.Buffer
	tick := &ticker{w: &out, what: "sync", ended: make(chan struct{})}
	done := make(chan struct{})
	go func() { tick.run(time.Hour, time.Hour); close(done) }()
	tick.end()
	<-done
	assert.Empty(t, out.String())
	(&ticker{w: &out}).end()
}
