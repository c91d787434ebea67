"""What a line runs: kinds, files, and lines to know a command again by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.artifacts import commands
from blackbird.artifacts.shell import Exit


def test_a_line_of_many() -> None:
    found = commands.read("cd x && FOO=1 pytest -q 2>&1 | tail -20; make test || true")
    assert [(ran.program, ran.kind, ran.line, ran.folder, ran.exit) for ran in found] == [
        ("cd", "other", "cd x", "", Exit.HIDDEN),
        ("pytest", "test", "pytest", "x", Exit.HIDDEN),
        ("tail", "read", "tail -20", "x", Exit.HIDDEN),
        ("make", "test", "make test", "x", Exit.HIDDEN),
        ("true", "other", "true", "x", Exit.HIDDEN),
    ]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("pytest tests", "test"),
        ("python -m pytest", "test"),
        ("python3.12 -m unittest discover", "test"),
        ("python manage.py test app", "test"),
        ("uv run --with x pytest", "test"),
        ("poetry run pytest", "test"),
        ("sudo -u dev time timeout -k 5 60 env A=1 pytest", "test"),
        ("npx vitest run", "test"),
        ("npm test", "test"),
        ("npm run test:unit -- --watch=false", "test"),
        ("pnpm --filter web test", "test"),
        ("cargo +nightly test -p shop", "test"),
        ("go test ./...", "test"),
        ("node --test", "test"),
        ("make check", "test"),
        ("just test-all", "test"),
        ("./gradlew test", "test"),
        ("make", "build"),
        ("make -C sub -j8", "build"),
        ("npm run build", "build"),
        ("cargo check", "build"),
        ("go build -o x", "build"),
        ("npx tsc --noEmit", "build"),
        ("ruff check .", "lint"),
        ("go vet ./...", "lint"),
        ("make lint-tests", "lint"),
        ("pnpm lint", "lint"),
        ("ruff format --check .", "format"),
        ("cargo fmt", "format"),
        ("npm run format", "format"),
        ("git -C x commit -m y", "vcs"),
        ("gh pr view 1", "vcs"),
        ("pip install -e .", "install"),
        ("uv sync", "install"),
        ("npm ci", "install"),
        ("rg -n foo src", "search"),
        ("find . -name x", "search"),
        ("cat x", "read"),
        ("ls -la", "read"),
        ("python script.py", "run"),
        ("./run.sh", "run"),
        ("go run ./main", "run"),
        ("npm run dev", "run"),
        ("frobnicate x", "other"),
    ],
)
def test_kinds(line: str, kind: str) -> None:
    assert [ran.kind for ran in commands.read(line)] == [kind]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "pytest tests -q",
            "cd /home/dev/shop && FOO=1 timeout 60 pytest tests -x -vv --tb=short -n 4 2>&1 | tail -20",
        ),
        ("go test ./...", "go test ./... -v -count=1"),
        ("cargo test", "cargo test -q -- --nocapture"),
        ("make -j8 test", "make test"),
        ('git commit -m "one"', "git commit -m 'two words'"),
        ("python x.py --out /tmp/a1", "python x.py --out /tmp/b2 > log 2>&1"),
        ("run --id 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "run --id 11111111-2222-3333-4444-555555555555"),
        ("/usr/bin/pytest", "pytest"),
    ],
)
def test_the_same_command_is_known_again(one: str, other: str) -> None:
    lines = [[ran.line for ran in commands.read(line) if ran.program not in ("cd", "tail")] for line in (one, other)]
    assert lines[0] == lines[1]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("pytest tests/a.py", "pytest tests/b.py"),
        ("make test", "make lint"),
        ("uv run pytest", "pytest"),
        ("go test ./a", "go test ./b"),
    ],
)
def test_other_commands_are_not_taken_for_it(one: str, other: str) -> None:
    assert commands.read(one)[0].line != commands.read(other)[0].line


@pytest.mark.parametrize(
    ("line", "reads", "writes", "removes"),
    [
        ("cat a.py b.py", ["a.py", "b.py"], [], []),
        ("head -n 20 a.py", ["a.py"], [], []),
        ("sed -n '1,20p' a.py", ["a.py"], [], []),
        ("sed -i 's/a/b/' a.py", ["a.py"], ["a.py"], []),
        ("sed -i -e s/a/b/ a.py", ["a.py"], ["a.py"], []),
        ("grep -n -A 3 foo a.py", ["a.py"], [], []),
        ("cat > a.py <<'EOF'\nrm b.py\nEOF", [], ["a.py"], []),
        ("echo x >> log.txt 2>/dev/null", [], ["log.txt"], []),
        ("sort < in > out", ["in"], ["out"], []),
        ("echo x | tee -a log.txt", [], ["log.txt"], []),
        ("rm -rf build dist", [], [], ["build", "dist"]),
        ("mv a b", [], ["b"], ["a"]),
        ("mv a b dir", [], ["dir/a", "dir/b"], ["a", "b"]),
        ("cp -r a b/", ["a"], ["b/a"], []),
        ("touch a; mkdir -p b/c", [], ["a", "b/c"], []),
        ("git add a.py", ["a.py"], [], []),
        ("git mv a.py b.py", [], ["b.py"], ["a.py"]),
        ("git rm a.py", [], [], ["a.py"]),
        ("python tools/x.py --fast", ["tools/x.py"], [], []),
        ("python -c 'print(1)'", [], [], []),
        ("cd src && cat a.py ../b.py /etc/hosts", ["src/a.py", "b.py", "/etc/hosts"], [], []),
        ("cat $FILE *.py", [], [], []),
    ],
)
def test_files(line: str, reads: list[str], writes: list[str], removes: list[str]) -> None:
    found = commands.read(line)
    assert [path for ran in found for path in ran.reads] == reads
    assert [path for ran in found for path in ran.writes] == writes
    assert [path for ran in found for path in ran.removes] == removes


def test_a_list_of_arguments_is_one_command() -> None:
    assert [ran.line for ran in commands.read(["pytest", "a b.py"])] == ["pytest 'a b.py'"]


def test_shells_within_are_looked_into() -> None:
    found = commands.read(["bash", "-lc", "cd web && npm test 2>&1 | tail -5"])
    assert [(ran.program, ran.folder, ran.exit) for ran in found] == [
        ("cd", "", Exit.OWN),
        ("npm", "web", Exit.HIDDEN),
        ("tail", "web", Exit.OWN),
    ]
    assert [ran.exit for ran in commands.read("bash -c 'pytest' || true")] == [Exit.HIDDEN, Exit.HIDDEN]


@pytest.mark.parametrize(
    ("line", "code", "ended"),
    [
        ("pytest", 0, True),
        ("pytest", 1, False),
        ("pytest", None, None),
        ("pytest | tail", 0, None),
        ("pytest || true", 0, None),
        ("pytest && mypy", 0, True),
        ("pytest && mypy", 1, None),
        ("cd x && pytest", 1, False),
    ],
)
def test_how_it_ended(line: str, code: int | None, ended: bool | None) -> None:
    (ran,) = (ran for ran in commands.read(line) if ran.program == "pytest")
    assert ran.went_well(code) is ended


def test_a_line_without_end_is_read_as_far_as_anyone_writes() -> None:
    assert len(commands.read("a;" * 50_000)) == 200


@given(st.text(st.sampled_from("ab \n'\"`$(){};&|<>#=-./gitcdrm"), max_size=80) | st.lists(st.text(max_size=9)))
def test_anything_is_read(line: str | list[str]) -> None:
    assert commands.read(line) == commands.read(line)
