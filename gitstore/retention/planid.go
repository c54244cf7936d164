package retention

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// PlanID returns eight hex digits of a digest over all decisions: id, keep and rule, in
// order. A saved, dropped or pinned checkpoint changes the id, and so does a new policy.
// So a stale plan is not executed. The planning time does not affect the id.
func PlanID(ds []Decision) string {
	h := sha256.New()
	for _, d := range ds {
		// Length prefixes separate the fields.
		for _, s := range []string{string(d.ID), strconv.FormatBool(d.Keep), d.Rule} {
			h.Write([]byte(strconv.Itoa(len(s)) + ":" + s))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}
