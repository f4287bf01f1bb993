"""Kills a run at random moments: kill_runs.py KITH [KILLS] [SEED] [ARGUMENT OF kith run...]

A run that writes a checkpoint every few milliseconds is killed (SIGKILL) again and again, and each
time goes on from what it left. What it leaves h5py opens, every time; and when it comes to its end,
its frames, observables and checkpoint have the bits of a run that nobody disturbed. Then the next
run begins, until there were so many kills. With --device cuda a run takes forty times as many
steps, as it is that much faster, and the moments are counted from when it has usually begun.
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import h5py

BODIES, FRAMES, STEPS_A_FRAME, STEPS_A_FRAME_ON_GPU, KILLS_A_RUN = 300, 100, 100, 4000, 5


def run(kith, start, output, extra, resume, frames=FRAMES):
    steps = STEPS_A_FRAME_ON_GPU if "cuda" in " ".join(extra) else STEPS_A_FRAME
    words = [kith, "run", start, "--dt", "1e-4", "--until", str(frames * steps * 1e-4)]
    words += ["--every", str(steps)]
    words += ["--softening", "0.05", "--threads", "1", "--checkpoint-every", "0.005", "--quiet"]
    words += ["-o", output, *extra] + (["--resume"] if resume else [])
    return subprocess.Popen([str(word) for word in words])


def datasets(path):
    """Everything that a run computes, by name; all frames complete."""
    found = {}

    def take(name, item):
        if isinstance(item, h5py.Dataset) and not name.endswith("command_line"):
            found[name] = item[()]

    with h5py.File(path, "r") as file:
        file.visititems(take)
        frames = len(file["particles/trajectory/position/step"])
    for name, values in found.items():
        if name.endswith("/value") and len(values) != frames:
            raise SystemExit(f"{name} has {len(values)} frames, and there are {frames} steps")
    return found


def check_same(found, whole):
    if found.keys() != whole.keys():
        raise SystemExit(f"other datasets: {found.keys() ^ whole.keys()}")
    for name, values in whole.items():
        same = found[name] == values if isinstance(values, bytes) else found[name].tobytes() == values.tobytes()
        if not same:
            raise SystemExit(f"{name} has other bits than in an undisturbed run")


def seconds_of_run(kith, start, output, extra, frames):
    begin = time.monotonic()
    if run(kith, start, output, extra, False, frames).wait() != 0:
        raise SystemExit("the undisturbed run failed")
    return time.monotonic() - begin


def main():
    kith, kills = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
    extra = sys.argv[4:]
    print(f"seed {seed}", flush=True)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="kith-kill-") as name:
        folder = pathlib.Path(name)
        start, whole, killed = (folder / part for part in ("start.csv", "whole.h5", "killed.h5"))
        subprocess.run([kith, "make", "plummer", "-n", str(BODIES), "--quiet", "-o", start], check=True)
        beginning = seconds_of_run(kith, start, whole, extra, 1)
        seconds = seconds_of_run(kith, start, whole, extra, FRAMES)
        latest = beginning + 2 * max(seconds - beginning, 0) / KILLS_A_RUN
        expected = datasets(whole)
        done = opened = finished = 0
        while done < kills or finished == 0:
            child = run(kith, start, killed, extra, True)
            try:
                if child.wait(rng.uniform(0, latest)) != 0:
                    raise SystemExit("a run failed by itself")
                check_same(datasets(killed), expected)
                finished += 1
                killed.unlink()
            except subprocess.TimeoutExpired:
                os.kill(child.pid, signal.SIGKILL)
                child.wait()
                done += 1
                if killed.exists():
                    datasets(killed)
                    opened += 1
            if done == kills and finished:
                break
        left = sorted(entry.name for entry in folder.iterdir() if entry.name.startswith("."))
        print(f"{done} kills, {opened} files opened after one, {finished} runs came to their end "
              f"with the bits of an undisturbed one ({seconds:.2f} s); {len(left)} working files of the last")


if __name__ == "__main__":
    main()
