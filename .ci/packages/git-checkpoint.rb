# A formula of Homebrew for git-checkpoint @VERSION@.
class GitCheckpoint < Formula
  desc "@SUMMARY@"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license "@LICENSE@"

  on_macos do
    on_arm do
      url "@DOWNLOAD@/git-checkpoint_@VERSION@_darwin_arm64.tar.gz"
      sha256 "@SHA256_darwin_arm64@"
    end
    on_intel do
      url "@DOWNLOAD@/git-checkpoint_@VERSION@_darwin_amd64.tar.gz"
      sha256 "@SHA256_darwin_amd64@"
    end
  end

  on_linux do
    on_arm do
      url "@DOWNLOAD@/git-checkpoint_@VERSION@_linux_arm64.tar.gz"
      sha256 "@SHA256_linux_arm64@"
    end
    on_intel do
      url "@DOWNLOAD@/git-checkpoint_@VERSION@_linux_amd64.tar.gz"
      sha256 "@SHA256_linux_amd64@"
    end
  end

  def install
    prefix.install "bin", "libexec", "share"
  end

  test do
    system "git", "init", "-q", "--object-format=sha256"
    system bin/"git-checkpoint", "save", "1"
    assert_match version.to_s, shell_output("#{bin}/git-checkpoint version")
  end
end
