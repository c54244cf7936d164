package config

import (
	"strings"

	"git-checkpoint/gitstore/checkpoint"
	"git-checkpoint/gitstore/retention"
)

// Policy returns the retention policy from the settings.
func (s *Settings) Policy() retention.Policy {
	p := retention.Default()
	for i := range table {
		name, ok := strings.CutPrefix(table[i].Name, keeps)
		if !ok {
			continue
		}
		t := checkpoint.Trigger(name)
		p[t] = retention.Rule{Keep: s.values[i].num, PerPhase: p[t].PerPhase}
	}
	return p
}
