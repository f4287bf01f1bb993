#!/bin/sh
# The Debian packages: what is in them, what they need, and that the program runs from them:
# packages.sh CPACK BUILD-FOLDER FOLDER VERSION
set -eu
cpack=$1 build=$2 folder=$3 version=$4

fail() { echo "$*" >&2; exit 1; }
field() { dpkg-deb -f "$folder/$1"_*.deb "$2"; }
holds() { # PACKAGE PATH...
    package=$1
    shift
    for path in "$@"; do
        dpkg-deb -c "$folder/$package"_*.deb | grep -qE " \./$path( ->.*)?\$" || fail "$package has no $path"
    done
}

rm -rf "$folder"
# gzip: xz would take longer than all the rest.
"$cpack" --config "$build/CPackConfig.cmake" -B "$folder" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip \
    >"$folder.log" 2>&1 || { cat "$folder.log" >&2; exit 1; }
[ "$(find "$folder" -maxdepth 1 -name '*.deb' | wc -l)" -eq 3 ] || fail "there are not three packages in $folder"

for package in kith libkith0 libkith-dev; do
    [ "$(field $package Version)" = "$version" ] || fail "$package: its version is not $version"
    field $package Maintainer | grep -qE '^[^<>]+ <[^<>@ ]+@[^<>@ ]+>$' || fail "$package: its maintainer has no address"
    holds $package "usr/share/doc/$package/copyright" "usr/share/doc/$package/changelog.gz"
    ! dpkg-deb -c "$folder/$package"_*.deb | grep -vE '^(d.{9}|-rw-r--r--|-rwxr-xr-x|l.{9}) root/root ' ||
        fail "$package: wrong owners or permissions"
    ! dpkg-deb -c "$folder/$package"_*.deb | grep -E ' \./(usr/local|opt|home|root|tmp)' ||
        fail "$package: files outside Debian's folders"
done
holds kith usr/bin/kith usr/share/man/man1/kith.1.gz usr/share/man/man1/kith-run.1.gz \
    usr/share/bash-completion/completions/kith usr/share/zsh/vendor-completions/_kith \
    usr/share/fish/vendor_completions.d/kith.fish
field kith Description | grep -q '^ [a-z]' || fail "kith: its description is not laid out as Debian's"
holds libkith0 'usr/lib/.*/libkith.so.0' "usr/lib/.*/libkith.so.$version"
holds libkith-dev usr/include/kith/kith.h 'usr/lib/.*/libkith.so' 'usr/lib/.*/libkith.a' \
    'usr/lib/.*/pkgconfig/kith.pc' 'usr/lib/.*/cmake/kith/kithConfig.cmake' \
    usr/share/doc/libkith-dev/examples/CMakeLists.txt

field kith Depends | grep -q 'libc6 (>= ' || fail "kith: dependencies are not those of its libraries"
field kith Depends | grep -q 'libcjson1' || fail "kith: no dependency on libcjson1"
for package in kith libkith0; do
    ! field $package Depends | grep -qE 'libkith|libcurl|libssl|-dev' ||
        fail "$package depends on too much: $(field $package Depends)"
done
field libkith-dev Depends | grep -qx "libkith0 (= $version)" || fail "libkith-dev: wrong dependencies"
dpkg-deb -I "$folder"/libkith0_*.deb shlibs | grep -qx "libkith 0 libkith0 (>= $version)" || fail "libkith0: wrong shlibs"
dpkg-deb -I "$folder"/libkith0_*.deb triggers | grep -qx 'activate-noawait ldconfig' ||
    fail "libkith0: does not ask for ldconfig"

# The static library of a build with CUDA needs the toolkit, which is in /usr/local.
if command -v lintian >/dev/null; then
    lintian --fail-on error --suppress-tags pkg-config-bad-directive "$folder"/*.deb >"$folder.log" 2>&1 || { cat "$folder.log" >&2; fail "lintian finds errors"; }
fi

for package in kith libkith0 libkith-dev; do dpkg-deb -x "$folder/$package"_*.deb "$folder/root"; done
cd "$folder/root"
(cd usr/share && find . -name '*.gz' -exec gzip -t {} +)
[ "$(readlink usr/lib/*/libkith.so)" = libkith.so.0 ] || fail "libkith.so does not lead to libkith.so.0"
! readelf -d usr/bin/kith usr/lib/*/libkith.so.0 | grep -E 'RUNPATH|RPATH' || fail "a folder of the build is looked up"
! readelf -SW usr/bin/kith usr/lib/*/libkith.so.0 | grep -q debug_info || fail "not stripped"
[ "$(usr/bin/kith --version)" = "kith $version" ] || fail "the program does not run"
usr/bin/kith make plummer -n 100 -o "$folder/plummer.csv"
usr/bin/kith forces "$folder/plummer.csv" -o "$folder/acc.csv"
[ "$(wc -l <"$folder/acc.csv")" -eq 101 ] || fail "kith forces does not work"
du -h "$folder"/*.deb
