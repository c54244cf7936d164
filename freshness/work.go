package freshness

func checkFiles(in input) []Reason {
	f := in.facts.Files
	switch {
	case !f.Checked && len(in.record.Files()) > 0:
		return []Reason{unchecked("files", "Files", f.Why)}
	case len(f.Changed) == 0:
		return nil
	}
	action := PromptUser
	if in.rules.FilesAnswered {
		action = ProceedWithWarning
	}
	r := reason("files", action, "%s changed since checkpoint: %s", count(len(f.Changed), "file"), some(f.Changed))
	r.Detail = each(f.Changed)
	return []Reason{r}
}

func checkOutputs(in input) []Reason {
	o := in.facts.Outputs
	switch {
	case !o.Checked && len(in.record.Outputs()) > 0:
		return []Reason{unchecked("outputs", "Outputs", o.Why)}
	}
	var out []Reason
	for _, path := range o.Missing {
		out = append(out, reason("outputs", PromptUser, "Output %s is missing", printable(path)))
	}
	for _, path := range o.Changed {
		out = append(out, reason("outputs", ProceedWithWarning, "Output %s changed since checkpoint", printable(path)))
	}
	return out
}

// some joins the first three elements for a message; Detail has all.
func some(l []string) string {
	const few = 3
	if len(l) > few {
		return join(l[:few]) + ", ..."
	}
	return join(l)
}

func each(l []string) []string {
	out := make([]string, len(l))
	for k := range l {
		out[k] = printable(l[k])
	}
	return out
}
