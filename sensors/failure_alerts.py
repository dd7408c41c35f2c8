"""The sensor that tells of failed runs: one line in the log, and to an address if there is one.

What it tells are the errors' own words, which hold counts, paths and ids; never text of a note.
"""

import logging
from collections.abc import Mapping

import dagster as dg

from kb_assets.failures import Failed, failures_in, without_text
from kb_core.errors import KbError
from kb_core.folder_names import shown_path
from resources.home import Home
from resources.webhook import post
from sensors.runs import PARTITION_TAG
from sensors.wiring import Wiring

NAME = "failure_alerts"
_LONGEST = 1_000  # characters of a message: chat services refuse much longer ones
_STOPPED = dg.DagsterExecutionInterruptedError.__name__

log = logging.getLogger("kb.alerts")


def failure_alerts(wiring: Wiring) -> dg.SensorDefinition:
    """Return the sensor. It runs whether the vault is watched or not: any run may fail."""

    @dg.run_failure_sensor(
        name=NAME,
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Names every failed run in the log, and to the address under [alerts].",
    )
    @without_text
    def sensor(context: dg.RunFailureSensorContext) -> None:
        try:
            home = wiring.open_bench().home
        except (KbError, OSError) as problem:
            log.warning("%s", problem)
            return
        alert = alert_of(home, context.dagster_run, list(_failures(context)))
        if alert:
            tell(home, alert)

    return sensor


def alert_of(home: Home, run: dg.DagsterRun, failed: list[Failed]) -> dict[str, str]:
    """Return what to tell of a failed run; nothing for one that the user stopped."""
    if any(each.kind == _STOPPED for each in failed):
        return {}
    partition = run.tags.get(PARTITION_TAG)
    names = home.folders()
    message = failed[0].message if failed else "it was ended from outside"
    return {
        "job": run.job_name,
        "folder": shown_path(names.get(partition, partition)) if partition else "",
        "status": run.status.value,
        "message": message[:_LONGEST],
    }


def tell(home: Home, alert: Mapping[str, str]) -> None:
    """Log an alert in one line, and send it where the settings say."""
    where = f"{alert['job']} of {alert['folder']}" if alert["folder"] else alert["job"]
    log.warning("%s: %s: %s", where, alert["status"], " ".join(alert["message"].split()))
    address = home.settings.alerts.webhook
    if address and (problem := post(address, alert)):
        log.warning("The alert was not delivered to the address under [alerts]: %s.", problem)


def _failures(context: dg.RunFailureSensorContext) -> list[Failed]:
    return list(failures_in(context.get_step_failure_events()))
