# GitHub Actions: act runs a job with the action, without containers.
installed act --version
installed node --version
echo "program: $(act --version)"
RUNNER='act push -P ubuntu-latest=-self-hosted'

describe() {
	mkdir -p .github/workflows checkpoint
	command cp -R "$SOURCE/action.yml" "$SOURCE/.ci" checkpoint
	cat >.github/workflows/work.yml <<END
on: push
jobs:
  work:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v6
      - id: resume
        uses: ./checkpoint
        with:
          release: $RELEASE
          sha256: $SHA256
      - if: steps.resume.outputs.checkpoint_complete != 'true'
        run: exec $1
END
}

# cancel: GitHub's runner interrupts a cancelled job, and so does act.
cancel() { kill -INT "$JOB"; }
