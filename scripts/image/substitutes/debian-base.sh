#!/bin/sh
# Stands in for debian:bookworm-slim where no registry can be reached: the same packages, from the sources that this machine's
# apt has, without what Debian's slim image leaves out. Needs root and debootstrap; for another processor than this machine's
# also qemu-user-static.
# Usage: debian-base.sh IMAGE [ARCHITECTURE]
set -eu
image=$1
architecture=${2:-$(dpkg --print-architecture)}
folder=$(mktemp --directory)
trap 'rm -rf "$folder"' EXIT
sources=$(apt-get --print-uris update | sed -nE "s#^'(.+)/dists/(bookworm[^/]*)/InRelease'.*#deb \1 \2 main#p")
mirror=$(echo "$sources" | sed -nE 's#^deb (.+) bookworm main$#\1#p' | head -n 1)
[ -n "$mirror" ] || { echo "apt has no source of Debian 12 (bookworm)" >&2; exit 1; }
debootstrap --arch="$architecture" --variant=minbase bookworm "$folder" "$mirror"
echo "$sources" >"$folder/etc/apt/sources.list"
cat >"$folder/etc/dpkg/dpkg.cfg.d/docker" <<'END'
path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/info/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/man/*
END
rm -rf "$folder"/usr/share/info/* "$folder"/usr/share/locale/* "$folder"/usr/share/man/* \
  "$folder"/var/cache/apt/* "$folder"/var/lib/apt/lists/* "$folder"/var/log/*.log
find "$folder/usr/share/doc" -type f ! -name copyright -delete
tar --directory "$folder" --create . | docker import --change 'CMD ["bash"]' - "$image"
