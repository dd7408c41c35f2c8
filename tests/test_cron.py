"""Which schedules kb.toml takes: only what Dagster takes too, and what comes round."""

import pytest
from dagster._utils.schedules import is_valid_cron_string
from hypothesis import given
from hypothesis import strategies as st

from kb_core.cron import is_cron
from kb_core.errors import SettingsError
from kb_core.settings import read_settings


@pytest.mark.parametrize(
    "text",
    [
        "0 4 * * 0",
        "*/15 8-18 * * mon-fri",
        "0 0 1 JAN,jul *",
        "5/10 * * * *",
        "0 4 29 2 *",
    ],
)
def test_what_people_write_is_taken(text):
    assert is_cron(text)
    assert is_valid_cron_string(text)


@pytest.mark.parametrize(
    "text",
    ["0 4 * *", "0 4 * * 0 0", "60 * * * *", "0 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8",
     "@weekly", "a * * * *", "1- * * * *", "5-1 * * * *", "*/0 * * * *", "0 4 31 2 *", "0 4 31 2 1",
     "٣ * * * *"],
)  # fmt: skip
def test_what_never_comes_or_is_no_schedule_is_not(text):
    assert not is_cron(text)


numbers = st.one_of(st.integers(0, 6), st.integers(1, 31), st.integers(0, 70)).map(str)
names = st.sampled_from(["sun", "mon", "SAT", "jan", "Dec", "x"])
parts = st.one_of(
    st.just("*"),
    numbers,
    names,
    st.builds("{}-{}".format, numbers, numbers),
    st.builds("{}-{}".format, names, names),
    st.builds("*/{}".format, numbers),
    st.builds("{}-{}/{}".format, numbers, numbers, numbers),
    st.builds("{}/{}".format, numbers, numbers),
)
fields = st.lists(parts, min_size=1, max_size=2).map(",".join)


@given(st.lists(fields, min_size=5, max_size=5).map(" ".join))
def test_dagster_takes_all_that_we_take(text):
    assert not is_cron(text) or is_valid_cron_string(text)


def write(home, text):
    (home / "kb.toml").write_text(text)
    return home


def test_a_schedule_that_is_none_is_named_with_what_is_allowed(tmp_path):
    with pytest.raises(SettingsError, match=r"refresh\.schedule = 'weekly'.*0 4 \* \* 0"):
        read_settings(write(tmp_path, '[refresh]\nschedule = "weekly"\n'))
    assert read_settings(write(tmp_path, '[refresh]\nschedule = ""\n')).refresh.schedule == ""


@pytest.mark.parametrize("address", ["https://hooks.example.org/x", "http://127.0.0.1:80/x", ""])
def test_an_alert_goes_over_a_safe_way(tmp_path, address):
    settings = read_settings(write(tmp_path, f'[alerts]\nwebhook = "{address}"\n'))

    assert settings.alerts.webhook == address


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org/t0ken",
        "ftp://127.0.0.1/t0ken",
        "http://127.0.0.1.evil.org/t0ken",
        "t0ken",
    ],
)
def test_an_unsafe_address_is_refused_and_never_repeated(tmp_path, address):
    with pytest.raises(SettingsError, match=r"alerts\.webhook = what is given") as told:
        read_settings(write(tmp_path, f'[alerts]\nwebhook = "{address}"\n'))

    assert "t0ken" not in str(told.value)
