//go:build amd64

package commands

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A faultTable counts stops and failures by command, fault and form of refs.
type faultTable struct {
	mu      sync.Mutex
	counts  map[faultKey]faultCount
	checked int // number of checked states
}

type faultKey struct {
	row  string
	form refsForm
	kind fault
}

type faultCount struct{ stops, tried, failed int }

func (c *faultCount) add(d faultCount) {
	c.stops, c.tried, c.failed = c.stops+d.stops, c.tried+d.tried, c.failed+d.failed
}

func (m *faultTable) add(row string, form refsForm, kind fault, c faultCount) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counts == nil {
		m.counts = map[faultKey]faultCount{}
	}
	m.counts[faultKey{row, form, kind}] = c
}

func (m *faultTable) states(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.checked += n
}

// markdown returns the table, with one line per command and fault and one column per form
// of refs: "stops tried of all, failures".
func (m *faultTable) markdown() string {
	var b strings.Builder
	b.WriteString("| command | fault |")
	for form := range refsForms {
		fmt.Fprintf(&b, " %v: tried of stops | failures |", form)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---:|---:|", int(refsForms)) + "\n")
	var sums [refsForms]faultCount
	for _, row := range faultRows {
		for kind := range faultKinds {
			line, any := fmt.Sprintf("| %s | %v |", row.name, kind), false
			for form := range refsForms {
				c, ok := m.counts[faultKey{row.name, form, kind}]
				if !ok {
					line += " - | - |"
					continue
				}
				any = true
				sums[form].add(c)
				line += fmt.Sprintf(" %d of %d | %d |", c.tried, c.stops, c.failed)
			}
			if any {
				b.WriteString(line + "\n")
			}
		}
	}
	b.WriteString("| all | |")
	for _, s := range sums {
		fmt.Fprintf(&b, " %d of %d | %d |", s.tried, s.stops, s.failed)
	}
	fmt.Fprintf(&b, "\n\nThey left %d states that differ.\n", m.checked)
	return b.String()
}

func (m *faultTable) write(t *testing.T) {
	text := m.markdown()
	if name := os.Getenv("GIT_CHECKPOINT_TEST_FAULT_TABLE"); name != "" {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
		return
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	t.Log(lines[len(lines)-3], lines[len(lines)-1])
}
