"""Runs of kith as their users' readers see them: h5py, ASE, and MDAnalysis with and without a topology."""

import os
import shutil
import subprocess
import tempfile
import unittest
import warnings

import ase.io
import h5py
import MDAnalysis
import numpy
from MDAnalysis.coordinates.H5MD import H5MDReader

KITH = os.environ["KITH_PROGRAM"]
FLAT = "x,y,vx,vy,m,name\n1,0,0,0.5,1,one\n-1,0,0,-0.5,1,two\n0,3,0.1,0,0.5,three\n"


def kith(*arguments):
    subprocess.run([KITH, *arguments], check=True, stdout=subprocess.DEVNULL)


class Readers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        warnings.simplefilter("ignore")
        cls.directory = tempfile.TemporaryDirectory()
        cls.inputs, cls.runs = {}, {}
        for name in ("flat", "deep", "single"):
            bodies = cls.inputs[name] = os.path.join(cls.directory.name, name + ".csv")
            run = cls.runs[name] = os.path.join(cls.directory.name, name + ".h5")
            if name == "flat":
                with open(bodies, "w") as file:
                    file.write(FLAT)
            else:
                kith("make", "six", "--seed", "3", "-o", bodies)
            precision = "single" if name == "single" else "double"
            kith("run", bodies, "--dt", "0.001", "--until", "0.5035", "--every", "20", "--softening", "0.1",
                 "--precision", precision, "--quiet", "-o", run)

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def each_run(self):
        for name, path in self.runs.items():
            with h5py.File(path) as file:
                yield name, path, file

    def test_the_file_is_conforming_h5md(self):
        for _, _, file in self.each_run():
            self.assertEqual(list(file["h5md"].attrs["version"]), [1, 1])
            self.assertEqual(file["h5md/creator"].attrs["name"], b"kith")
            self.assertIn("version", file["h5md/creator"].attrs)
            self.assertIn("name", file["h5md/author"].attrs)
            self.assertEqual(list(file["particles"]), ["trajectory"])
            box = file["particles/trajectory/box"]
            self.assertEqual(box.attrs["dimension"], 3)
            self.assertEqual(list(box.attrs["boundary"]), [b"none"] * 3)
            self.assertNotIn("edges", box)

    def test_nothing_else_looks_like_atoms_to_vmd(self):
        for _, _, file in self.each_run():
            found = []
            file.visit(lambda path: found.append(path) if path.endswith("position/value") else None)
            self.assertEqual(found, ["particles/trajectory/position/value"])

    def test_every_series_has_the_frames_cadence_and_no_units(self):
        for name, _, file in self.each_run():
            position = file["particles/trajectory/position"]
            frames, bodies, components = position["value"].shape
            self.assertEqual((frames, components), (27, 3))
            self.assertEqual(position["value"].dtype, numpy.float32 if name == "single" else numpy.float64)
            groups = [file["particles/trajectory/velocity"], *file["observables"].values()]
            self.assertEqual(len(groups), 9)
            for group in groups:
                self.assertEqual(group["step"], position["step"])  # the same object: a hard link
                self.assertEqual(group["time"], position["time"])
                self.assertEqual(len(group["value"]), frames)
                self.assertNotIn("unit", group["value"].attrs)
            self.assertEqual(list(position["step"]), [*range(0, 504, 20), 504])
            self.assertEqual(position["time"][-1], 0.5035)
            self.assertEqual(list(file["particles/trajectory/id"]), list(range(bodies)))
            for column in ("mass", "species"):
                self.assertEqual(file["particles/trajectory"][column].shape, (bodies,))

    def test_flat_runs_have_z_zero_and_say_so(self):
        for name, _, file in self.each_run():
            self.assertEqual(file["parameters/kith/dimensions"][()], 2 if name == "flat" else 3)
            if name == "flat":
                self.assertFalse(file["particles/trajectory/position/value"][:, :, 2].any())
                self.assertEqual(list(file["particles/trajectory/name"]), [b"one", b"two", b"three"])

    def test_parameters_tell_how_the_run_was_made(self):
        for name, path, file in self.each_run():
            parameters = file["parameters/kith"]
            self.assertEqual(parameters["dt"][()], 0.001)
            self.assertEqual(parameters["softening"][()], 0.1)
            self.assertEqual(parameters["gravitational_constant"][()], 1)
            self.assertEqual(parameters["integrator"][()], b"leapfrog")
            self.assertEqual(parameters["precision"][()], b"single" if name == "single" else b"double")
            self.assertEqual(parameters["input"][()].decode(), self.inputs[name])
            self.assertIn(f"-o {path}", parameters["command_line"][()].decode())
            self.assertIn("units", parameters)

    def assert_frames_equal(self, universe, file):
        position = file["particles/trajectory/position/value"][()].astype(numpy.float32)
        velocity = file["particles/trajectory/velocity/value"][()].astype(numpy.float32)
        self.assertEqual(len(universe.atoms), position.shape[1])
        self.assertEqual(universe.trajectory.n_frames, len(position))
        for frame in universe.trajectory:
            numpy.testing.assert_array_equal(frame.positions, position[frame.frame])
            numpy.testing.assert_array_equal(frame.velocities, velocity[frame.frame])
            self.assertEqual(frame.time, file["particles/trajectory/position/time"][frame.frame])
            self.assertEqual(frame.data["total_energy"], file["observables/total_energy/value"][frame.frame])
            self.assertIsNone(frame.dimensions)

    def test_mdanalysis_loads_runs_without_a_topology(self):
        for _, path, file in self.each_run():
            bodies = H5MDReader.parse_n_atoms(path)
            universe = MDAnalysis.Universe(path, format="H5MD", topology_format="MINIMAL", n_atoms=bodies,
                                           convert_units=False)
            self.assert_frames_equal(universe, file)

    def test_mdanalysis_loads_runs_with_an_empty_topology(self):
        for _, path, file in self.each_run():
            universe = MDAnalysis.Universe.empty(file["particles/trajectory/mass"].size, trajectory=True)
            universe.load_new(path, format="H5MD", convert_units=False)
            self.assert_frames_equal(universe, file)

    def test_mdanalysis_loads_runs_with_an_xyz_topology(self):
        for name, path, file in self.each_run():
            xyz = os.path.join(self.directory.name, name + ".xyz")
            kith("convert", self.inputs[name], xyz)
            universe = MDAnalysis.Universe(xyz, path, format="H5MD", topology_format="XYZ", convert_units=False)
            self.assert_frames_equal(universe, file)

    def test_ensembles_load_too_with_an_axis_of_systems_in_the_observables(self):
        path = os.path.join(self.directory.name, "ensemble.h5")
        kith("run", "six", "--ensemble", "5", "--seed", "2", "--dt", "0.001", "--until", "0.1", "--softening", "0.1",
             "--quiet", "-o", path)
        universe = MDAnalysis.Universe.empty(30, trajectory=True)
        universe.load_new(path, format="H5MD", convert_units=False)
        with h5py.File(path) as file:
            position = file["particles/trajectory/position/value"]
            energy = file["observables/total_energy/value"]
            self.assertEqual(position.shape, (101, 30, 3))
            self.assertEqual(energy.shape, (101, 5))
            self.assertEqual(file["observables/momentum/value"].shape, (101, 5, 3))
            self.assertEqual(list(file["particles/trajectory/system"]), [k // 6 for k in range(30)])
            self.assertEqual(list(file["parameters/kith/seeds"]), [2, 3, 4, 5, 6])
            for frame in universe.trajectory:
                numpy.testing.assert_array_equal(frame.positions, position[frame.frame].astype(numpy.float32))
                numpy.testing.assert_array_equal(frame.data["total_energy"], energy[frame.frame])

    def test_units_that_mdanalysis_knows_are_attributes(self):
        """Its lengths are Å and its times ps; what it does not know would make it refuse the file."""
        path = os.path.join(self.directory.name, "units.h5")
        for units, length, time, to_angstrom, to_ps in (("nm,ps", "nm", "ps", 10, 1), ("Å,fs", "Angstrom", "fs", 1, 1e-3),
                                                        ("AU,day,Msun", None, None, 1, 1), ("nm,fs", None, None, 1, 1)):
            kith("run", "six", "--dt", "0.01", "--until", "0.1", "--units", units, "--quiet", "-o", path)
            with h5py.File(path) as file:
                trajectory = file["particles/trajectory"]
                position, velocity = trajectory["position/value"], trajectory["velocity/value"]
                for dataset, unit in ((position, length), (trajectory["velocity/time"], time),
                                      (velocity, length and f"{length} {time}-1")):
                    self.assertEqual(dataset.attrs.get("unit"), unit)
                universe = MDAnalysis.Universe.empty(6, trajectory=True)
                universe.load_new(path, format="H5MD", convert_units=length is not None)
                frame = universe.trajectory[-1]
                self.assertAlmostEqual(frame.time, 0.1 * to_ps)
                numpy.testing.assert_allclose(frame.positions, position[-1] * to_angstrom, rtol=1e-6)
                numpy.testing.assert_allclose(frame.velocities, velocity[-1] * to_angstrom / to_ps, rtol=1e-5)

    def test_converted_frames_load_as_runs_do(self):
        target = os.path.join(self.directory.name, "frames.h5")
        for _, path, run in self.each_run():
            kith("convert", path, target, "--frames", "4:9")
            with h5py.File(target) as file:
                universe = MDAnalysis.Universe.empty(file["particles/trajectory/mass"].size, trajectory=True)
                universe.load_new(target, format="H5MD", convert_units=False)
                self.assert_frames_equal(universe, file)
                position = file["particles/trajectory/position"]
                self.assertEqual(list(position["step"]), [60, 80, 100, 120, 140, 160])
                for group in (file["particles/trajectory/velocity"], *file["observables"].values()):
                    self.assertEqual(group["step"], position["step"])
                    self.assertEqual(group["time"], position["time"])
                    numpy.testing.assert_array_equal(group["value"], run[group.name]["value"][3:9])

    def test_ase_reads_frames_of_extended_xyz(self):
        target = os.path.join(self.directory.name, "frames.xyz")
        for name, path, run in self.each_run():
            kith("convert", path, target, "--frames", "all")
            frames = ase.io.read(target, index=":", format="extxyz")
            position, velocity = (run[f"particles/trajectory/{of}/value"] for of in ("position", "velocity"))
            self.assertEqual(len(frames), len(position))
            for k, frame in enumerate(frames):
                numpy.testing.assert_array_equal(frame.positions, position[k])
                numpy.testing.assert_array_equal(frame.arrays["velo"], velocity[k])
                self.assertEqual(frame.info["Time"], run["particles/trajectory/position/time"][k])

    def test_units_of_observables_are_kept(self):
        source = shutil.copy(self.runs["deep"], os.path.join(self.directory.name, "with_units.h5"))
        target = os.path.join(self.directory.name, "with_units_too.h5")
        with h5py.File(source, "r+") as file:
            file["observables/momentum/value"].attrs["unit"] = "nm ps-1"
            file["observables/total_energy/value"].attrs["unit"] = numpy.bytes_("kJ")
        kith("convert", source, target, "--frames", "all")
        with h5py.File(target) as file:
            self.assertEqual(file["observables/momentum/value"].attrs["unit"], "nm ps-1")
            self.assertEqual(file["observables/total_energy/value"].attrs["unit"], b"kJ")

    def test_wrapped_runs_have_images_and_positions_within_the_cell(self):
        atoms, plain, wrapped = (os.path.join(self.directory.name, name) for name in ("melt.xyz", "melt.h5", "wrapped.h5"))
        kith("make", "fcc", "-n", "32", "--density", "0.8", "--temperature", "4", "--quiet", "-o", atoms)
        run = ("run", atoms, "--law", "lennard-jones", "--cutoff", "1.7", "--dt", "0.002", "--until", "4", "--every", "100",
               "--quiet", "-o")
        kith(*run, plain)
        kith(*run, wrapped, "--wrap")
        universe = MDAnalysis.Universe.empty(32, trajectory=True)
        universe.load_new(wrapped, format="H5MD", convert_units=False)
        with h5py.File(wrapped) as file, h5py.File(plain) as other:
            particles = file["particles/trajectory"]
            position, image, edges = (particles[name + "/value"] for name in ("position", "image", "box/edges"))
            self.assertTrue(numpy.issubdtype(image.dtype, numpy.integer))
            self.assertEqual(image.shape, position.shape)
            for series in ("step", "time"):
                self.assertEqual(particles["image"][series], particles["position"][series])
            self.assertTrue((position[()] >= 0).all() and (position[()] <= edges[0, 0, 0]).all())
            self.assertGreater(abs(image[()]).max(), 0)
            numpy.testing.assert_allclose(position[()] + numpy.einsum("fik,fkc->fic", image[()], edges[()]),
                                          other["particles/trajectory/position/value"][()], rtol=0, atol=1e-13)
            for frame in universe.trajectory:
                numpy.testing.assert_array_equal(frame.positions, position[frame.frame].astype(numpy.float32))

    def test_bodies_with_a_cell_load_too(self):
        source = os.path.join(self.directory.name, "cell.xyz")
        target = os.path.join(self.directory.name, "cell.h5")
        with open(source, "w") as file:
            file.write('1\nLattice="4 0 0 0 5 0 0 0 6" pbc="T T F" Properties=species:S:1:pos:R:3\nHe 1 2 3\n')
        kith("convert", source, target)
        universe = MDAnalysis.Universe.empty(1, trajectory=True)
        universe.load_new(target, format="H5MD", convert_units=False)
        numpy.testing.assert_allclose(universe.trajectory[0].dimensions, [4, 5, 6, 90, 90, 90])
        with h5py.File(target) as file:
            self.assertEqual(list(file["particles/trajectory/box"].attrs["boundary"]), [b"periodic", b"periodic", b"none"])


if __name__ == "__main__":
    unittest.main()
