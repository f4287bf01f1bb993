"""What a mutant takes to build: its own objects, and programs linked with them in place of the true ones.

The build folder stays as it is, so that many mutants can be tried at once, each in a folder of its own.
"""
import json
import os
import shlex
import subprocess
from pathlib import Path


class Build:
    """The commands of a Ninja build folder in which everything is built."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        entries = json.loads(self._ninja("compdb"))
        self.commands = {entry["output"]: entry["command"] for entry in entries if " -c " in entry["command"]}
        self.objects_of = self._objects_of()
        self.members = {name: self._command(name, " qc ").split()[3:]
                        for name in ("libkith.a", "tests/libkith_testing.a")}

    def _ninja(self, *words):
        return subprocess.run(["ninja", "-C", self.folder, "-t", *words], capture_output=True, text=True,
                              check=True).stdout

    def _command(self, target, part):
        """The part, between &&s, of the command that makes a target."""
        last = self._ninja("commands", target).strip().splitlines()[-1]
        return next(command for command in last.split(" && ") if part in command)

    def _objects_of(self):
        """The objects that are compiled from a file, as the compiler reported."""
        objects, target = {}, None
        for line in self._ninja("deps").splitlines():
            if line.startswith("    "):
                path = os.path.normpath(self.folder / line.strip())
                objects.setdefault(path, []).append(target)
            elif ": #deps" in line:
                target = line.split(": #deps")[0]
        return objects

    def compiled(self, path):
        """Whether anything is made of a file."""
        return str(path.resolve()) in self.objects_of

    def link_command(self, program):
        return shlex.split(self._command(program, " -o "))


class Workshop:
    """A folder in which a mutant is compiled and linked."""

    def __init__(self, build, folder):
        self.build, self.folder, self.made = build, Path(folder).resolve(), {}
        self.folder.mkdir(parents=True, exist_ok=True)

    def _run(self, command, seconds):
        try:
            done = subprocess.run(command, cwd=self.build.folder, capture_output=True,
                                  timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def compile(self, path, text, seconds):
        """Compiles everything that a file with this text is part of; whether that goes."""
        for old in [*self.folder.glob("src/*/*"), *self.folder.glob("*.o"), *self.folder.glob("program_*")]:
            old.unlink()
        copy = self.folder / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text)
        self.made = {}
        true = str(path.resolve())
        for number, target in enumerate(self.build.objects_of[true]):
            self.made[target] = str(self.folder / f"{number}.o")
            words = shlex.split(self.build.commands[target])
            if Path(words[0]).name == "ccache":  # a mutant is compiled once
                del words[0]
            for option in ("-MT", "-MF"):
                at = words.index(option)
                del words[at:at + 2]
            words.remove("-MD")
            words[words.index("-o") + 1] = self.made[target]
            words = [str(copy) if word == true else word for word in words]
            first = next(k for k, word in enumerate(words) if word.startswith("-I"))
            words.insert(first, f"-I{self.folder / 'src'}")  # before the true one
            if not self._run(words, seconds):
                return False
        return True

    def link(self, program):
        """A program with the mutant's objects: its path, or None."""
        words = [self.made.get(word, word) for word in self.build.link_command(program)]
        output = str(self.folder / f"program_{Path(program).name}")
        words[words.index("-o") + 1] = output
        # An object before an archive is taken instead of the archive's.
        first = next(k for k, word in enumerate(words) if word.endswith(".a"))
        words[first:first] = [made for target, made in self.made.items()
                              if any(target in members for name, members in self.build.members.items()
                                     if name in words)]
        return output if self._run(words, 600) else None
