"""Runs programs on generated clients against a server: starts one, makes an account, and gives it to each program.

usage: drive.py SERVER-BINARY "NAME: COMMAND" ...     exit 0: every program ended well
"""

import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "contract"))

from drive import EMAIL, PASSWORD, Client, server  # noqa: E402

DOCUMENT = """# Notes of the clinic

Patients must be able to book an appointment online at any hour.
The system shall send a reminder by text message 24 hours before each appointment.
Receptionists must be able to move an appointment to another day.
The booking page shall answer within two seconds.
"""


def main(binary, *programs):
    with tempfile.TemporaryDirectory(prefix="colloquy-clients-") as folder, server(binary, pathlib.Path(folder)) as base:
        Client(base, pathlib.Path(folder) / "outbox").sign_up(EMAIL)
        account = {"COLLOQUY_URL": base, "COLLOQUY_EMAIL": EMAIL, "COLLOQUY_PASSWORD": PASSWORD, "COLLOQUY_DOCUMENT": DOCUMENT}
        failed = []
        for program in programs:
            name, command = program.split(": ", 1)
            print(f"{name}: ", end="", flush=True)
            ran = subprocess.run(shlex.split(command), env={**os.environ, **account}, stdin=subprocess.DEVNULL, timeout=120)
            if ran.returncode:
                failed.append(name)
        if failed:
            log = (pathlib.Path(folder) / "server.log").read_text()
            sys.exit(f"failed: {', '.join(failed)}\n{log[-4000:]}")


main(*sys.argv[1:])
