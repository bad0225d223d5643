# Shared by the scripts: sourced, not run. Sets `root`, the folder of the project.
root=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)

say() { echo "$*" >&2; }

# The test part cannot run here: a failure in CI, where everything has to be there, else a skip that says so.
skip()
{
    say "$*"
    [ "${CI:-}" = true ] && exit 1
    exit 77
}

# has cmake | has zlib.h: is the program, or the C header, on this machine?
has()
{
    case $1 in
    *.h) echo "#include <$1>" | "${CC:-cc}" -E -x c -o /dev/null - 2>/dev/null ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

# need PROGRAM-OR-HEADER=PACKAGE...: installs the Debian packages of all that is missing, in one go.
# Where that is not possible it says what to install, and fails.
need()
{
    local pair missing=0
    for pair in "$@"; do
        has "${pair%%=*}" || missing=1
    done
    [ $missing = 1 ] || return 0
    mkdir -p "$root/build"
    (flock 9 && install_missing "$@") 9>"$root/build/.install-lock" # one at a time, as apt has it
}

install_missing()
{
    local pair packages=() sudo=()
    for pair in "$@"; do
        has "${pair%%=*}" || packages+=("${pair#*=}")
    done
    [ ${#packages[@]} != 0 ] || return 0
    if has apt-get; then
        [ "$(id -u)" = 0 ] || sudo=(sudo -n)
        if "${sudo[@]}" true 2>/dev/null; then
            say "Installing ${packages[*]}"
            local install=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends)
            { "${install[@]}" "${packages[@]}" ||
                { "${sudo[@]}" apt-get update -q && "${install[@]}" "${packages[@]}"; }; } </dev/null >&2 && return 0
        fi
    fi
    say "Please install what these Debian packages offer: ${packages[*]}"
    return 1
}

need_build_tools() { need cc=gcc cmake=cmake ninja=ninja-build xz=xz-utils zlib.h=zlib1g-dev; }

# clang with its sanitizers and libFuzzer.
need_clang()
{
    need clang=clang python3=python3 &&
        CC=clang need "sanitizer/hwasan_interface.h=libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
}

# foreign FOLDER ARCHITECTURE PACKAGE...: unpacks Debian packages of another machine's kind into FOLDER, by apt with lists
# and a cache of its own, so that nothing of this system changes.
foreign()
{
    local folder=$1 arch=$2 list state name
    shift 2
    [ ! -e "$folder/.unpacked" ] || return 0
    has apt-get || { say "Packages of $arch come by apt, which is not here"; return 1; }
    state=$folder/apt
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/packages"
    list=(-q -o APT::Architectures::="$(dpkg --print-architecture)" -o APT::Architectures::="$arch" -o Acquire::Languages=none
        -o Dir::State::lists="$state/lists" -o Dir::Cache="$state/cache" -o APT::Sandbox::User="$(id -un)")
    apt-get "${list[@]}" update >&2 || say "Not every package list of $arch could be had" # those needed decide below
    (cd "$state/packages" && apt-get "${list[@]}" download "${@/%/:$arch}" >&2) || return 1
    for name in "$state"/packages/*.deb; do
        dpkg-deb -x "$name" "$folder"
    done
    rm -r "$state"
    touch "$folder/.unpacked"
}

# test_foreign ARCHITECTURE TRIPLET EMULATOR [C-FLAG...]: the unit and contract tests and the replays of the fuzz targets,
# built by a cross compiler for another kind of machine and run by EMULATOR (empty: this machine runs them itself).
test_foreign()
{
    local arch=$1 triplet=$2 emulator=$3 build=$root/build/exotic-$1 libraries=$root/build/exotic-$1-libraries lib
    shift 3
    foreign "$libraries" "$arch" zlib1g zlib1g-dev libcmocka0 libcmocka-dev || skip "The libraries for $arch could not be had"
    lib=$(dirname "$(find "$libraries/usr/lib" -name libcmocka.so)")
    build_once "$build" -DKEYFERRY_WERROR=ON -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$arch" \
        -DCMAKE_C_COMPILER="$triplet-gcc" -DCMAKE_CROSSCOMPILING_EMULATOR="$emulator" \
        "-DCMAKE_C_FLAGS=$* -isystem $libraries/usr/include/${lib##*/}" \
        -DZLIB_INCLUDE_DIR="$libraries/usr/include" -DZLIB_LIBRARY="$lib/libz.a" \
        -DCMOCKA_INCLUDE="$libraries/usr/include" -DCMOCKA_LIBRARY="$lib/libcmocka.so"
    if [ -n "$emulator" ]; then
        export KEYFERRY_THIN=8
        echo "  $arch is emulated, and slow: tests of very many cases take one of $KEYFERRY_THIN" | tee "$TMP/table"
    fi
    ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$(nproc)" -R '^(unit|fuzz)\.'
}

# stale FOLDER PATH...: has something below the paths changed since build_once ended there?
stale()
{
    local folder=$1
    shift
    [ ! -e "$folder/.built" ] || [ -n "$(find "$@" -newer "$folder/.built" -print -quit)" ]
}

# build_once FOLDER [CMAKE-OPTION...]: configures and builds; quiet unless it fails. Safe to be run twice at a time.
build_once()
{
    local folder=$1
    shift
    mkdir -p "$folder"
    (
        flock 9
        touch "$folder/.started" # what changes from now on is not in this build
        if [ ! -e "$folder/build.ninja" ]; then
            cmake -S "$root" -B "$folder" -G Ninja "$@" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
        fi
        cmake --build "$folder" >"$folder/log" 2>&1 || { grep -v '^\[[0-9]*/[0-9]*\]' "$folder/log" >&2; exit 1; }
        mv "$folder/.started" "$folder/.built"
    ) 9>"$folder/.lock"
}
