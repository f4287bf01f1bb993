# Installs what a job needs, by the system's packages; read by ./dev.

# One line a job: a test that all is there, and the Debian packages.
packages_of() {
    case $1 in
    build) echo "gcc cmake ninja-build libc6-dev libhdf5-dev zlib1g-dev libpng-dev libfftw3-dev libcjson-dev libmicrohttpd-dev librandom123-dev $(packages_of nvcc)" ;;
    nvcc) if command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then echo "g++"; fi ;; # its host's compiler
    test) echo "ccache libcmocka-dev libopenmpi-dev openmpi-bin python3 python3-venv ffmpeg $(packages_of consume) $(packages_of browser)" ;;
    browser) if ! grep -qs '^ID=ubuntu' /etc/os-release; then echo "chromium"; fi ;; # a snap there
    package) echo "dpkg-dev file" ;;
    consume) echo "g++ clang pkgconf binutils $(packages_of package) mandoc groff-base bash zsh fish" ;;
    wheel) echo "$(packages_of build) $(packages_of python) make dpkg-dev" ;;
    python) echo "g++ binutils python3-dev python3-venv" ;;
    torch) echo "python3-torch python3-pytest python3-venv" ;;
    bench) echo "python3 python3-venv" ;;
    docs) echo "doxygen python3 python3-venv" ;;
    plot) echo "gnuplot-nox fonts-dejavu-core" ;;
    gallery) echo "g++ $(packages_of plot)" ;;
    coverage) echo "gcovr" ;;
    lint) echo "git clang clang-format clang-tidy cppcheck libopenmpi-dev libcmocka-dev python3 python3-venv" ;;
    valgrind) echo "valgrind" ;;
    fuzz) echo "clang libclang-rt-dev" ;;
    msan) echo "dpkg-dev" ;;
    esac
}

installed() { dpkg-query -W -f='${db:Status-Abbrev}' "$1" 2>/dev/null | grep -q '^ii'; }

need() { # JOB...
    if ! command -v dpkg-query >/dev/null 2>&1; then
        echo "This system has no apt; these Debian packages or their like must be there:"
        for job in "$@"; do echo "  $(packages_of "$job")"; done
        return 0
    fi
    missing=
    for job in "$@"; do
        for package in $(packages_of "$job"); do
            installed "$package" || missing="$missing $package"
        done
    done
    [ -n "$missing" ] || return 0
    echo "Installing:$missing"
    # env: sudo does not hand the caller's environment on.
    as_root=env
    [ "$(id -u)" -eq 0 ] || as_root="sudo env"
    apt="$as_root DEBIAN_FRONTEND=noninteractive apt-get"
    log=$(mktemp)
    # shellcheck disable=SC2086
    if ! { $apt update && $apt install -y --no-install-recommends $missing; } >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        echo "./dev: the packages could not be installed; the lines above say why" >&2
        exit 1
    fi
    rm -f "$log"
}

python_venv() { # FOLDER REQUIREMENTS
    stamp=$1/.installed
    if [ -f "$stamp" ] && cmp -s "$2" "$stamp"; then return 0; fi
    echo "Installing Python packages into $1: $(grep -v '^#' "$2" | tr '\n' ' ')"
    rm -rf "$1"
    python3 -m venv "$1"
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check -r "$2"
    cp "$2" "$stamp"
}
