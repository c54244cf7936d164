# GitLab CI: gitlab-ci-local runs a job with the template, without containers.
installed gitlab-ci-local --version
installed rsync --version
echo "program: gitlab-ci-local $(gitlab-ci-local --version)"

# The clone has a detached HEAD, as on GitLab. There, gitlab-ci-local knows no branch.
describe() {
	RUNNER="gitlab-ci-local work --variable CI_COMMIT_REF_NAME=$(git symbolic-ref --short HEAD)"
	mkdir .ci
	command cp "$SOURCE/.ci/gitlab.yml" .ci
	cat >.gitlab-ci.yml <<END
include:
  - local: .ci/gitlab.yml
work:
  extends: .git-checkpoint
  variables:
    CHECKPOINT_RELEASE: $RELEASE
    CHECKPOINT_SHA256: $SHA256
  script:
    - $1
END
}

# cancel: GitLab's runner terminates the processes of a cancelled job. gitlab-ci-local does
# not, and counts a job as successful if a signal ended its shell: the shell stays.
cancel() {
	for process in $PROCESSES; do
		[ "$(ps -o comm= -p "$process")" = bash ] || kill "$process" || true
	done
}
