package gittest

// Conflict starts a merge that stops with conflicts. The repository must contain a.txt
// and dir/b.txt on main. a.txt is changed on both sides, dir/b.txt is deleted on main,
// and new.txt is added on both sides.
func Conflict(r *Repo) {
	r.Git("checkout", "-q", "-b", "other")
	r.Write("a.txt", "theirs\n")
	r.Write("new.txt", "theirs\n")
	r.Write("dir/b.txt", "theirs\n")
	r.Git("add", "-A")
	r.Commit("theirs")
	r.Git("checkout", "-q", "main")
	r.Write("a.txt", "ours\n")
	r.Write("new.txt", "ours\n")
	r.Git("rm", "-q", "dir/b.txt")
	r.Git("add", "-A")
	r.Commit("ours")
	_, _ = r.Run(nil, "merge", "other")
}
