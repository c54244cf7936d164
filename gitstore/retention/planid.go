package retention

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// PlanID names a plan: eight hex digits over every decision, its rule and
// their order. A checkpoint that was saved, dropped or pinned since, or another
// policy, gives another id, so that a plan is carried out exactly or not at
// all. The time of planning is no part of it.
func PlanID(ds []Decision) string {
	h := sha256.New()
	for _, d := range ds {
		// Lengths in front keep two plans from running together.
		for _, s := range []string{string(d.ID), strconv.FormatBool(d.Keep), d.Rule} {
			h.Write([]byte(strconv.Itoa(len(s)) + ":" + s))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}
