"""A machine with one of Debian's mail servers, for `test_mail_servers.py`: everything here runs inside of it, as root.

The machine is a copy of this one that nobody keeps: its own files, network and processes. Called with the name of the
server, the folder with its packages and the repository's root; prints what happened as one line of JSON.
"""

import asyncio
import contextlib
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import httpx2

from afterword.sending.channels.email import CannotLoginError, check_login
from tests.journeys.client import Client, client_of
from tests.journeys.processes import ROOT, until
from tests.sending.channels.sink import Sink, say

DOMAIN: Final = "shop.example"
HOME: Final = Path("/var/lib/afterword")
CONFIG: Final = Path("/etc/afterword/afterword.toml")
PORT: Final = 2525  # of everybody's server in the world outside, which knows nobody
SITE: Final = "http://127.0.0.1:8080"
SECONDS_MAX: Final = 60.0
LOGS: Final = (Path("/var/log/mail.log"), Path("/var/log/exim4/mainlog"))
PACKAGES: Final = {"postfix": "postfix", "exim": "exim4-daemon-light"}
SELECTIONS: Final = f"""\
postfix postfix/main_mailer_type select Internet Site
postfix postfix/mailname string {DOMAIN}
exim4-config exim4/dc_eximconfig_configtype select satellite system
"""
SMARTHOST: Final = f"""\
dc_eximconfig_configtype='smarthost'
dc_other_hostnames='{DOMAIN}'
dc_local_interfaces='127.0.0.1'
dc_smarthost='127.0.0.1::{PORT}'
dc_minimaldns='true'
dc_use_split_config='false'
dc_localdelivery='mail_spool'
"""


def run(*words: str, **more: Any) -> str:
    """Standard output of a command."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS_MAX, check=False, **more)
    assert 0 == done.returncode, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def install(name: str, archives: Path) -> None:
    """Debian's package as it stands, with the certificate that Debian makes, and nothing started by it."""
    Path("/etc/resolv.conf").write_text("nameserver 127.0.0.1\n")  # where nobody answers, and says so at once
    Path("/usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
    Path("/usr/sbin/policy-rc.d").chmod(0o755)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    run("debconf-set-selections", input=SELECTIONS)
    options = ("-qq", "-y", "--no-install-recommends", "--no-download", f"-oDir::Cache::archives={archives}")
    run("apt-get", *options, "install", "ssl-cert", env=environment)
    run("make-ssl-cert", "generate-default-snakeoil")  # before the server, which looks whether it is there
    run("apt-get", *options, "install", PACKAGES[name], env=environment)


def start_postfix() -> None:
    settings = (f"mydestination={DOMAIN}", f"relayhost=[127.0.0.1]:{PORT}", "inet_interfaces=loopback-only")
    run("postconf", "-e", *settings, "maillog_file=/var/log/mail.log", "disable_dns_lookups=yes")
    run("postfix", "start")


def start_exim() -> None:
    Path("/etc/exim4/update-exim4.conf.conf").write_text(SMARTHOST)
    # Debian's way to a certificate of its own: exim-gencert; here the one of the package ssl-cert.
    Path("/etc/exim4/exim4.conf.localmacros").write_text("MAIN_TLS_ENABLE = yes\n")
    for name, source in (("exim.crt", "certs/ssl-cert-snakeoil.pem"), ("exim.key", "private/ssl-cert-snakeoil.key")):
        shutil.copy(Path("/etc/ssl") / source, Path("/etc/exim4") / name)
        shutil.chown(Path("/etc/exim4") / name, "root", "Debian-exim")
        (Path("/etc/exim4") / name).chmod(0o640)
    template = Path("/etc/exim4/exim4.conf.template")
    # The world outside is on this machine here, where Exim sees a loop.
    template.write_text(template.read_text().replace("driver = manualroute", "driver = manualroute\n  self = send"))
    run("update-exim4.conf")
    subprocess.run(["/usr/sbin/exim4", "-bd", "-q1m"], stdout=subprocess.DEVNULL, timeout=SECONDS_MAX, check=True)


STARTS: Final = {"postfix": start_postfix, "exim": start_exim}


def set_up_service() -> None:
    """The service's user, its settings, and the pipe as docs/deliverability.md says."""
    run("useradd", "--system", "--home-dir", str(HOME), "--create-home", "afterword")
    HOME.chmod(0o750)
    CONFIG.parent.mkdir()
    settings = {"data_dir": f"{HOME}/data", "mail_from": f"survey@{DOMAIN}", "smtp_url": "smtp://localhost"}
    CONFIG.write_text("".join(f'{name} = "{value}"\n' for name, value in settings.items()))
    shutil.chown(CONFIG, "root", "afterword")
    CONFIG.chmod(0o640)
    program = Path("/opt/afterword/bin/afterword")
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\ncd {ROOT} && exec {sys.executable} -m afterword "$@"\n')
    program.chmod(0o755)
    page = (ROOT / "docs/deliverability.md").read_text(encoding="utf-8").partition("as a pipe.")[2]
    script, forward, alias = re.findall(r"```\w*\n(.*?)```", page, re.DOTALL)[:3]
    pipe = Path("/usr/local/bin/afterword-bounce")
    pipe.write_text(script)
    pipe.chmod(0o755)
    (HOME / ".forward").write_text(forward)
    shutil.chown(HOME / ".forward", "afterword", "afterword")
    with Path("/etc/aliases").open("a") as aliases:
        aliases.write(alias.replace("bounces", "survey"))
    run("newaliases")


def as_user(name: str, *words: str) -> list[str]:
    entry = pwd.getpwnam(name)
    user = (f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups")
    return ["setpriv", *user, "env", "-i", f"PATH={os.environ['PATH']}", f"AFTERWORD_CONFIG={CONFIG}", *words]


async def answer_of_relay() -> str | None:
    with contextlib.suppress(CannotLoginError):
        return await check_login("smtp://localhost")
    return None


async def ready() -> None:
    async with httpx2.AsyncClient(timeout=5) as http:

        async def answers() -> bool:
            try:
                return (await http.get(f"{SITE}/readyz")).status_code == 200
            except httpx2.TransportError:
                return False

        await until(answers, seconds=SECONDS_MAX, what="the service is ready")


async def do_the_job(client: Client) -> dict[str, Any]:
    """One mail to somebody whom nobody knows: what became of it."""
    item = await client.schedule("gone@remote.example", locale="en")
    sent = await client.sent(item["item_id"])

    async def suppressed() -> Any:
        return (await client.get("/suppression"))["results"]

    listed = await until(suppressed, seconds=SECONDS_MAX, what="the bounce came back and was read")
    events = (await client.get("/event?limit=500"))["results"]
    return {
        "result": sent["result"],
        "suppressed": [(each["identifier"], each["reason"]) for each in listed],
        "events": [event["type"] for event in events if item["item_id"] in json.dumps(event)],
    }


def pipe_as_nobody() -> tuple[int, str]:
    """The exit code of the pipe as the user to whom Postfix gives commands in /etc/aliases, and its words."""
    command = as_user("nobody", "/usr/local/bin/afterword-bounce")
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    return done.returncode, done.stderr


def serve() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(as_user("afterword", "/opt/afterword/bin/afterword", "serve"), stdout=sys.stderr)


async def main(name: str, archives: Path) -> dict[str, Any]:
    install(name, archives)
    set_up_service()
    async with Sink(port=PORT, faults={"rcpt": say("550 5.1.1 No such user here")}):
        STARTS[name]()
        relay = await until(answer_of_relay, seconds=SECONDS_MAX, what="the relay answers")
        serving = serve()
        await ready()
        made = run(*as_user("afterword", "/opt/afterword/bin/afterword", "seed", "--json"))
        try:
            found = await do_the_job(client_of(made))
        except BaseException:
            sys.stderr.writelines(log.read_text() for log in LOGS if log.exists())
            raise
        nobody = pipe_as_nobody()
        serving.terminate()
        await asyncio.to_thread(serving.wait, SECONDS_MAX)
    return {**found, "relay": relay, "nobody": nobody}


if __name__ == "__main__":
    sys.stdout.write(f"{json.dumps(asyncio.run(main(sys.argv[1], Path(sys.argv[2]))))}\n")
