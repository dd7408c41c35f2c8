"""Turn what the owner's door was given into a policy: `--as NAME`, `--as-of WHEN`."""

from kb_core.dates import instant_of
from kb_core.errors import SettingsError
from kb_core.settings import Settings
from kb_search.policy import OWNER_NAME, Policy, policy_for


def policy_of(settings: Settings, as_whom: str | None = None, as_of: str | None = None) -> Policy:
    """Return the policy. A day, month or year means its end.

    Raises SettingsError for an unknown principal or what is no date.
    """
    instant = None
    if as_of is not None:
        instant = instant_of(as_of)
        if instant is None:
            raise SettingsError(
                f"{as_of!r} is no date. Give a year, month, day or instant: 2024, 2024-03, "
                "2024-03-14, 2024-03-14T18:00:00+01:00."
            )
    return policy_for(settings, as_whom or OWNER_NAME, instant)
