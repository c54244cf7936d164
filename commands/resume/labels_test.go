package resume

import (
	"strings"
	"testing"

	"git-checkpoint/freshness"
	"git-checkpoint/freshness/issue/forge"

	"github.com/stretchr/testify/assert"
)

func TestSyncChange(t *testing.T) {
	rules := freshness.Rules{LabelsToPhase: map[string]string{"doing": "implementing"}}
	exact := func(a, b string) bool { return a == b }
	for _, c := range []struct {
		name     string
		was, now []string
		want     forge.LabelChange
	}{
		{"the same", []string{"a", "state:x"}, []string{"state:x", "a"}, forge.LabelChange{}},
		{"one went", []string{"a", "b", "a"}, []string{"b"}, forge.LabelChange{Add: []string{"a"}}},
		{"others came", []string{}, []string{"help wanted", "p1"}, forge.LabelChange{}},
		{"another state", []string{"state:x"}, []string{"state:y", "p1"}, forge.LabelChange{Add: []string{"state:x"}, Remove: []string{"state:y"}}},
		{"a label that stands for a phase", []string{"state:x"}, []string{"doing", "state:x"}, forge.LabelChange{Remove: []string{"doing"}}},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, syncChange(c.was, c.now, rules, exact)) })
	}
}

func TestSyncChangeIgnoresCaseOnForges(t *testing.T) {
	was, now := []string{"state:Ready", "Bug", "bug"}, []string{"state:ready", "state:Done", "p1"}
	want := forge.LabelChange{Add: []string{"Bug"}, Remove: []string{"state:Done"}}
	assert.Equal(t, want, syncChange(was, now, freshness.Rules{}, strings.EqualFold))
}
