"""Choose the language model that the settings name, and say what is known of it without opening it.

`identity_of`, `label_of` and `is_local` are pure: a plan of what reading costs is made offline.
"""

from kb_core.errors import LLMMissingError
from kb_core.settings import LLMSettings
from resources.llm import LanguageModel
from resources.ollama_embedder import is_this_machine

OLLAMA_ADDRESS = "http://127.0.0.1:11434"


def open_llm(settings: LLMSettings) -> LanguageModel | None:
    """Open the model; None where rules read alone. Nothing is sent yet.

    Raises LLMMissingError with what is missing: a package, a key or a model that runs here.
    """
    if settings.engine == "anthropic":
        from resources.anthropic_llm import open_anthropic

        return open_anthropic(settings, identity_of(settings))
    if settings.engine == "ollama":
        from resources.ollama_llm import open_ollama_llm

        if settings.model.endswith(("-cloud", ":cloud")):
            raise LLMMissingError(
                f"Model {settings.model!r} runs on somebody else's machine, and what is read would "
                "be sent there. Choose a model that runs here, under [llm] in kb.toml."
            )
        return open_ollama_llm(
            settings, settings.url or OLLAMA_ADDRESS, identity_of(settings), is_local(settings)
        )
    return None


def identity_of(settings: LLMSettings) -> str:
    """Return what decides the answers, part of every question's key.

    >>> identity_of(LLMSettings(engine="ollama", model="llama3:8b"))
    'ollama/llama3:8b'
    """
    return f"{settings.engine}/{label_of(settings)}"


def label_of(settings: LLMSettings) -> str:
    """Return the model's name, as it stands beside all that it said."""
    return settings.model.removesuffix(":latest") if settings.engine == "ollama" else settings.model


def is_local(settings: LLMSettings) -> bool:
    """Tell whether what is sent stays on this machine.

    Anthropic's never does: an address on this machine stands for the provider behind it.
    """
    return settings.engine == "ollama" and is_this_machine(settings.url or OLLAMA_ADDRESS)
