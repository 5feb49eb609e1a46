"""The results of a run: summary, tables and fields."""

import json
import pathlib
import xml.etree.ElementTree

from . import _fields


class Run:
    """The results in a directory. Everything is read when it is asked for, so that a run in progress can be watched."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        if not (self.directory / "summary.json").is_file():
            raise FileNotFoundError(f"{self.directory} has no summary.json: it is not the directory of a run")

    def __repr__(self):
        return f"Run({str(self.directory)!r}, status={self.status!r})"

    @property
    def summary(self):
        """summary.json as a dictionary."""
        return json.loads((self.directory / "summary.json").read_text())

    @property
    def status(self):
        """How the run ended: ok, stopped, failed, diverged, check-failed; or running."""
        return self.summary["status"]

    @property
    def log(self):
        """The lines that the run printed."""
        return (self.directory / "log.txt").read_text()

    @property
    def tables(self):
        """The names of the tables of the monitors."""
        return sorted(path.stem for path in (self.directory / "monitors").glob("*.csv"))

    def table(self, name):
        """A table of a monitor as a NumPy array with named columns: `run.table("forces")["cd"]`."""
        import numpy

        path = self.directory / "monitors" / f"{name}.csv"
        if not path.is_file():
            raise KeyError(f"there is no table {name}; there are {', '.join(self.tables) or 'none'}")
        return numpy.atleast_1d(numpy.genfromtxt(path, delimiter=",", names=True, deletechars=""))

    @property
    def times(self):
        """The times at which fields were written."""
        return [time for time, _ in self._series()]

    def field_file(self, time=None):
        """The file with the fields that were written last, or last before or at `time`.

        With `format: vtkhdf` it holds all times."""
        return self._entry(time)[1]

    def _entry(self, time):
        series = self._series()
        if time is not None:
            series = [entry for entry in series if entry[0] <= time * (1 + 1e-12)]
        if not series:
            raise KeyError(f"no fields were written{'' if time is None else f' up to time {time}'}")
        return series[-1]

    def grid(self, time=None):
        """The fields as vtkUnstructuredGrid (module vtk)."""
        time, file = self._entry(time)
        if file.suffix == ".vtkhdf":
            reader = _hdf_reader(file)
            reader.UpdateTimeStep(time)
            return reader.GetOutput()
        from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader

        reader = vtkXMLUnstructuredGridReader()
        reader.SetFileName(str(file))
        reader.Update()
        return reader.GetOutput()

    def fields(self, time=None):
        """The fields as a dictionary of NumPy arrays, one row for each point; `points` has the coordinates, and
        `triangles()` divides the elements of a plane domain, for matplotlib. Files of the format vtkhdf need the module
        vtk."""
        time, file = self._entry(time)
        if file.suffix == ".vtkhdf":
            return _fields.of_grid(self.grid(time), time)
        return _fields.read(file)

    def mesh(self, time=None):
        """The fields as a mesh of PyVista."""
        import pyvista

        return pyvista.wrap(self.grid(time))

    def _series(self):
        path, entries = self.directory / "fields.pvd", []
        if path.is_file():
            entries = [
                (float(entry.get("timestep")), self.directory / entry.get("file"))
                for entry in xml.etree.ElementTree.parse(path).iter("DataSet")
            ]
        path = self.directory / "fields.vtkhdf"
        if path.is_file():
            times = [(time, path) for time in _hdf_times(path)]
            # There are both after a restart in another format.
            if not entries or times[-1][0] > entries[-1][0]:
                return times
        return entries


def _hdf_reader(path):
    from vtkmodules.vtkIOHDF import vtkHDFReader

    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    return reader


def _hdf_times(path):
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline

    information = _hdf_reader(path).GetOutputInformation(0)
    return list(information.Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS()))
