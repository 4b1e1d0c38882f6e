"""How a job stands or has ended, as the result object that every surface of rein gives."""

import dataclasses
import json
from typing import Any, Dict, List, Optional, Union


@dataclasses.dataclass(frozen=True)
class Result:
    """A job as it is, or as it ended.

    success: it runs, or it ended by itself with exit code 0. exit_code: None while it runs or when
    it is lost; 0 to 255; -N when signal N ended it. reason: None while it runs, else "exit",
    "signal", "timeout", "stopped", "owner_gone", a limit ("memory_limit", …) or "lost".

    output is what it wrote, both streams in order, or stdout and stderr when they were kept apart,
    then output is None. omitted_bytes, omitted_at, truncated: what of it is not shown; log_file
    then has all of it. cursor: where what comes next begins. duration_ms in milliseconds; usage in
    milliseconds and bytes. warnings: everything that changed what was asked for.
    """

    process_id: str
    pid: int
    status: str
    reason: Optional[str]
    success: bool
    exit_code: Optional[int]
    signal: Optional[str]
    command: List[str]
    cwd: str
    name: Optional[str]
    started_at: str
    duration_ms: float
    output: Optional[str] = None
    stdout: Optional[str] = None
    stderr: Optional[str] = None
    output_bytes: int = 0
    omitted_bytes: int = 0
    omitted_at: Optional[int] = None
    truncated: bool = False
    cursor: int = 0
    encoding: str = 'utf-8'
    log_file: Optional[str] = None
    left_running: List[Dict[str, Any]] = dataclasses.field(default_factory=list)
    usage: Dict[str, Any] = dataclasses.field(default_factory=dict)
    sandbox: Dict[str, Any] = dataclasses.field(default_factory=dict)
    warnings: List[str] = dataclasses.field(default_factory=list)
    #: What a wait was for: the line, or the port; None for an end. Not a part of the object.
    matched: Union[str, int, None] = dataclasses.field(default=None, compare=False)

    @property
    def running(self) -> bool:
        return self.status == 'running'

    @property
    def timed_out(self) -> bool:
        """It ran into its deadline."""
        return self.reason == 'timeout'

    def to_dict(self) -> Dict[str, Any]:
        """The result object, with the keys of the JSON."""
        found = dataclasses.asdict(self)
        del found['matched']
        for key in ('stdout', 'stderr') if self.stdout is None else ('output',):
            del found[key]
        return found

    @classmethod
    def from_dict(cls, found: Dict[str, Any]) -> 'Result':
        """From a result object; keys of a newer version are left out."""
        return cls(**{key: value for key, value in found.items() if key in _FIELDS})

    @classmethod
    def from_json(cls, text: Union[str, bytes]) -> 'Result':
        return cls.from_dict(json.loads(text))


_FIELDS = frozenset(field.name for field in dataclasses.fields(Result)) - {'matched'}


@dataclasses.dataclass(frozen=True)
class JobInfo:
    """A row of jobs(). Get the job itself with attach(process_id)."""

    process_id: str
    pid: int
    status: str
    reason: Optional[str]
    success: bool
    exit_code: Optional[int]
    signal: Optional[str]
    command: List[str]
    cwd: str
    name: Optional[str]
    started_at: str
    duration_ms: float
    output_bytes: int

    @property
    def running(self) -> bool:
        return self.status == 'running'

    @classmethod
    def from_dict(cls, found: Dict[str, Any]) -> 'JobInfo':
        names = [field.name for field in dataclasses.fields(cls)]
        return cls(**{name: found[name] for name in names})
