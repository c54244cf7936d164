package invoke

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The ticker prints nothing before the delay and after the end, and erases its line at
// the end.
func TestTicker(t *testing.T) {
	var out bytes.Buffer
	tick := &ticker{w: &out, what: "sync: origin", ended: make(chan struct{})}
	tick.At(3, 10)
	assert.Empty(t, out.String())
	tick.write()
	assert.Equal(t, "\r\x1b[Ksync: origin: 3 of 10 issues", out.String())
	tick.End()
	tick.End()
	tick.write()
	assert.Equal(t, "\r\x1b[Ksync: origin: 3 of 10 issues\r\x1b[K", out.String())
}

// The line is erased before other output, and is not wider than the terminal.
func TestTickerHides(t *testing.T) {
	var out bytes.Buffer
	tick := &ticker{w: &out, what: "import", of: "files", width: 16, ended: make(chan struct{})}
	tick.hide()
	tick.At(3, 10)
	tick.write()
	tick.hide()
	tick.hide()
	assert.Equal(t, "\r\x1b[Kimport: 3 of...\r\x1b[K", out.String())
	tick.About("verify\x1b")
	tick.write()
	assert.Contains(t, out.String(), "\r\x1b[Kverify\\x1b")
}

// A terminal that cannot erase a line gets a new line each time.
func TestTickerPrintsLinesWithoutErase(t *testing.T) {
	var out bytes.Buffer
	tick := &ticker{w: &out, what: "import", lines: true, ended: make(chan struct{})}
	tick.At(3, 10)
	tick.write()
	tick.AtOf(4, 5, "checkpoints rewritten")
	tick.write()
	tick.hide()
	tick.End()
	(*ticker)(nil).AtOf(1, 2, "of what nobody sees")
	assert.Equal(t, "import: 3 of 10 issues\nimport: 4 of 5 checkpoints rewritten\n", out.String())
}
