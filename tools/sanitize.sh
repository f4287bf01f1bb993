#!/bin/sh
# The GPU's test programs under compute-sanitizer's four tools: sanitize.sh FOLDER JOBS [SECONDS]
# takes FOLDER/test_cuda_*, JOBS at a time, with a limit for each, and prints a line a program and
# tool: clean, or what is not. What the tools say goes to FOLDER/sanitizer/.
set -eu

if [ "$1" = --one ]; then # TOOL PROGRAM SECONDS LOGS
    name=$(basename "$3")
    log=$5/$2-$name.txt
    begin=$(date +%s)
    leaks=""
    [ "$2" != memcheck ] || leaks="--leak-check=full"
    # Several GPUs share the programs, but for the one that wants them all.
    case $name in
    *_devices) ;;
    *) [ "$GPUS" -le 1 ] || export CUDA_VISIBLE_DEVICES=$((SLOT % GPUS)) ;;
    esac
    # The tests provoke errors of the runtime: those are not what is looked for.
    # shellcheck disable=SC2086
    stdbuf -oL timeout -k 5 "$4" compute-sanitizer --tool "$2" $leaks --report-api-errors no \
        --error-exitcode 99 --print-limit 5 "$3" >"$log" 2>&1 && code=0 || code=$?
    seconds=$(($(date +%s) - begin))
    tests=$(grep -c '^\[       OK' "$log") || true
    last=$(grep '^\[ RUN' "$log" | tail -n 1 | sed 's/.*\] *//')
    case $code in
    0) result="clean" ;;
    77) result="skipped" ;;
    99) result="findings: $(grep -E 'SUMMARY' "$log" | tail -n 1 | tr -d '=')" ;;
    124 | 137) result="timed out in $last" ;;
    *) result="failed ($code): $(grep '^\[  FAILED' "$log" | tail -n 1), in $last" ;;
    esac
    echo "$2 $name: $result; $tests tests, $seconds s"
    [ "$code" -eq 0 ] || [ "$code" -eq 77 ] || exit 1
    exit 0
fi

folder=$1
jobs=$2
seconds=${3:-600}
command -v compute-sanitizer >/dev/null ||
    { echo "sanitize: skipped: there is no compute-sanitizer"; exit 0; }
export KITH_TEST_QUICK=1 CMOCKA_MESSAGE_OUTPUT=STDOUT
GPUS=$(nvidia-smi -L | grep -c GPU) || true
export GPUS
mkdir -p "$folder/sanitizer"
for tool in racecheck memcheck initcheck synccheck; do
    for program in "$folder"/test_cuda_*; do
        case $tool,$program in
        *_lost) ;;              # goes wrong on purpose
        *_program | *_bench) ;; # start others, which leaves the tools' memory in disorder
        racecheck,*_faults | racecheck,*_recordings) ;; # the others' kernels, again and again
        *) echo "--one $tool $program $seconds $folder/sanitizer" ;;
        esac
    done
done | xargs --process-slot-var=SLOT -P "$jobs" -L 1 sh "$0"
