package gittest

// Conflict leaves a merge that stopped, in a repository with a.txt and
// dir/b.txt on main: a.txt changed on both sides, dir/b.txt deleted on one,
// new.txt added on both.
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
