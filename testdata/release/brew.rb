# ruby brew.rb FORMULA ARCHIVES PREFIX VERSION: installs a formula like Homebrew, without a
# network: prints url and checksum of each system, compares the archive of this system in the
# folder ARCHIVES with its checksum, runs the formula's install in the unpacked archive, and
# links the files of the keg.
require "digest"
require "fileutils"
require "pathname"
require "rbconfig"
require "tmpdir"

class Pathname
  def install(*names)
    mkpath
    names.each { |name| FileUtils.cp_r(name, self) }
  end
end

class Formula
  FIELDS = {}
  ARCHIVES = {}
  class << self
    %i[desc homepage version license].each { |field| define_method(field) { |value| FIELDS[field] = value } }
    { on_macos: :macos, on_linux: :linux }.each { |name, os| define_method(name) { |&block| @os = os; block.call } }
    { on_arm: :arm, on_intel: :intel }.each { |name, cpu| define_method(name) { |&block| @cpu = cpu; block.call } }
    def url(value) = ARCHIVES[[@os, @cpu]] = [value]
    def sha256(value) = ARCHIVES[[@os, @cpu]] << value
    def test(&block) = block
    def inherited(formula) = FIELDS[:class] = formula
  end

  attr_reader :prefix

  def initialize(prefix) = @prefix = prefix
end

formula, archives, prefix, version = ARGV
load formula
missing = %i[desc homepage version license] - Formula::FIELDS.keys
abort "the formula has no #{missing}" unless missing.empty?
abort "the version is #{Formula::FIELDS[:version]}" if Formula::FIELDS[:version] != version
Formula::ARCHIVES.each { |system, archive| puts [*system, *archive].join(" ") }

cpu = RbConfig::CONFIG["host_cpu"] =~ /arm|aarch64/ ? :arm : :intel
url, sum = Formula::ARCHIVES.fetch([:linux, cpu])
archive = File.join(archives, File.basename(url))
abort "#{archive}: the checksum is not #{sum}" if Digest::SHA256.file(archive).hexdigest != sum

keg = Pathname.new(prefix) / "Cellar/git-checkpoint" / version
Dir.mktmpdir do |dir|
  system("tar", "-xzf", archive, "-C", dir, exception: true)
  Dir.chdir(Dir.glob("#{dir}/*").first) { Formula::FIELDS[:class].new(keg).install }
end
Dir.glob("{bin,share}/**/*", base: keg).each do |name|
  next if (keg / name).directory?
  link = Pathname.new(prefix) / name
  link.dirname.mkpath
  link.make_symlink((keg / name).relative_path_from(link.dirname))
end
