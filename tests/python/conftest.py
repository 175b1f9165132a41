"""What the tests of the Python package share."""

import os
import subprocess
import sys

import pytest

import petal


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "db")


@pytest.fixture
def db(path):
    with petal.open(path) as connection:
        yield connection


@pytest.fixture
def table(db):
    db.create_table("t", {"cf": {"max_versions": 10}, "cg": {}})
    return db.table("t")


@pytest.fixture
def kv(db):
    return db.kv("map")


@pytest.fixture
def run(path):
    """Run a program in a process of its own, with `path` as its argument; what it prints. It must
    end with 0 and print nothing to standard error."""

    def run(program, expect=0):
        # Freed memory does not look as it did.
        environment = dict(os.environ, PYTHONFAULTHANDLER="1", MALLOC_PERTURB_="165")
        done = subprocess.run(
            # Newer Pythons warn of forks in processes with threads, as every database has.
            [sys.executable, "-X", "dev", "-W", "ignore:This process", "-c", program, path],
            env=environment, timeout=60,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
        )
        assert done.returncode == expect, done.stderr
        assert done.stderr == ""
        return done.stdout

    return run
