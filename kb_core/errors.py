"""Every error this project raises on purpose.

KbError
├── SettingsError           kb.toml or the environment holds a value that cannot be used
├── HomeError               no home here, or a home that does not fit this vault
├── VaultError              the vault is missing, empty or not a folder
│   └── MassLossError       too much of a folder vanished at once to be believed
├── ContractError           a table breaks the promise made to the next stage
├── StoreError              a stored file is missing or damaged
├── BusyError               another process holds this partition or this home
├── NotBuiltError           nothing is published yet, so nothing can be searched
├── DefectError             a stage met what nobody expected; says where, not with what
├── EmbedderError           vectors could not be made
│   ├── EmbedderMissingError   its package or its model is not installed
│   ├── EmbedderDownError      its server does not answer
│   └── (BadBatchError         these texts got no vectors; stands in resources/embedder.py)
├── LLMError                no language model could be asked
│   ├── LLMMissingError        its package, its key or its model is missing
│   ├── LLMDownError           its server does not answer, or is busy for too long
│   ├── SpendLimitError        the provider's own limit on spending is reached
│   └── (BadRequestError       this one text got no answer; stands in resources/llm.py)
└── ApprovalError           an approval names no plan that waits, or another one

Messages say what happened, where, and what to do next. They hold counts, paths and ids, never
note text and never keys.
"""


class KbError(Exception):
    """Base class: catch this to catch everything raised on purpose."""


class SettingsError(KbError):
    """A setting has a value that cannot be used."""


class HomeError(KbError):
    """There is no home here, or it belongs to another vault."""


class VaultError(KbError):
    """The vault is missing, empty or not a folder."""


class MassLossError(VaultError):
    """More of a folder vanished at once than anybody deletes by hand."""


class ContractError(KbError):
    """A table does not match its contract."""


class StoreError(KbError):
    """A stored file is missing or damaged."""


class BusyError(KbError):
    """Somebody else is writing here."""


class NotBuiltError(KbError):
    """Nothing is published yet."""


class DefectError(KbError):
    """A stage met what nobody expected; the message names places in the code alone."""


class EmbedderError(KbError):
    """Vectors could not be made."""


class EmbedderMissingError(EmbedderError):
    """The embedder's package or model is not installed."""


class EmbedderDownError(EmbedderError):
    """The embedder's server does not answer."""


class LLMError(KbError):
    """No language model could be asked."""


class LLMMissingError(LLMError):
    """The language model's package, its key or the model itself is missing."""


class LLMDownError(LLMError):
    """The language model's server does not answer, or is busy for too long."""


class SpendLimitError(LLMError):
    """The provider's own limit on spending is reached."""


class ApprovalError(KbError):
    """An approval names no plan that waits, or does not fit the plan it names."""
