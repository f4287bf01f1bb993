# Sources of Debian packages, without changing the system's lists; read by scripts that compile libraries.

# apt with lists of its own, those of the sources of what the system has its packages from.
apt_for_sources() {
    apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/sources" \
        -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" "$@"
}

# The source of each package in $work/PACKAGE/source.
get_sources() { # PACKAGE...
    mkdir -p "$work/sources" "$work/lists/partial" "$work/cache/archives/partial"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
        [ ! -f "$file" ] || sed -E 's/^deb[[:space:]]/deb-src /; s/^Types:.*/Types: deb-src/' "$file" \
            >"$work/sources/$(basename "$file")"
    done
    apt_for_sources update || true # some may have no sources
    for package in "$@"; do
        mkdir "$work/$package"
        (cd "$work/$package" && apt_for_sources source "$package" && mv -- */ source)
    done
}
