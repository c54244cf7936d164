# The archive of git-checkpoint @VERSION@ for Nix:
#   nix-build -E 'with import <nixpkgs> { }; callPackage ./git-checkpoint.nix { }'
#   nix-env -i ./result
{ lib, stdenvNoCC, fetchurl }:

let
  archives = {
    x86_64-linux = { name = "linux_amd64"; sha256 = "@SHA256_linux_amd64@"; };
    aarch64-linux = { name = "linux_arm64"; sha256 = "@SHA256_linux_arm64@"; };
    x86_64-darwin = { name = "darwin_amd64"; sha256 = "@SHA256_darwin_amd64@"; };
    aarch64-darwin = { name = "darwin_arm64"; sha256 = "@SHA256_darwin_arm64@"; };
  };
  archive = archives.${stdenvNoCC.hostPlatform.system};
in
stdenvNoCC.mkDerivation {
  pname = "git-checkpoint";
  version = "@VERSION@";

  src = fetchurl {
    url = "@DOWNLOAD@/git-checkpoint_@VERSION@_${archive.name}.tar.gz";
    inherit (archive) sha256;
  };

  dontConfigure = true;
  dontBuild = true;
  dontFixup = true;

  installPhase = ''
    mkdir -p "$out"
    cp -R bin libexec share "$out"
  '';

  meta = {
    description = "@SUMMARY@";
    homepage = "@HOMEPAGE@";
    license = lib.getLicenseFromSpdxId "@LICENSE@";
    mainProgram = "git-checkpoint";
    platforms = builtins.attrNames archives;
    sourceProvenance = [ lib.sourceTypes.binaryNativeCode ];
  };
}
