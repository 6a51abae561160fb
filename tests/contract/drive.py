"""Drives a running server with Schemathesis: signs up, makes what the operations need, and lets it call them.

usage: drive.py SERVER-BINARY OPENAPI.json [schemathesis option ...]     ($SCHEMATHESIS: where it is; $DATABASE_URL: another database)

Starts the server itself, on free ports and in a folder of its own, and ends it. Every run draws the same examples (the seed
is printed). Exit 0: no check failed.
"""

import base64
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from email import message_from_bytes, policy

HERE = pathlib.Path(__file__).resolve().parent
SEED = os.environ.get("COLLOQUY_CONTRACT_SEED", "20260131")
EMAIL = "ada@example.org"
PASSWORD = "a harbour of quiet lanterns 7"
SERVICE_KEY = "the-key-of-the-pipeline-service-0001"
# One pixel.
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="


@contextlib.contextmanager
def server(binary, data, verb="serve", *arguments):
    """The address of a server, while it runs."""
    environment = {
        **os.environ,
        "COLLOQUY__ACCOUNTS__ACCESS_TOKEN_SECONDS": "3600",
        "COLLOQUY__PIPELINE__KEY": SERVICE_KEY,
    }
    log = (data / "server.log").open("wb")
    command = [binary, verb, *arguments, "--config", str(HERE.parent.parent / "config/test.toml"), "--data", str(data)]
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
    try:
        line = process.stdout.readline().decode()
        found = re.search(r"http://\S+", line)
        if not found:
            sys.exit(f"the server did not start: {line}{(data / 'server.log').read_text()}")
        yield found.group()
        if process.poll() is not None:
            sys.exit(f"the server ended by itself with {process.returncode}")
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


class Client:
    """Calls the interface as one account."""

    def __init__(self, base, outbox):
        self.base, self.outbox, self.token = base, outbox, None

    def call(self, method, path, body=None, kind="application/json"):
        content = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": kind} | ({"Authorization": f"Bearer {self.token}"} if self.token else {})
        request = urllib.request.Request(self.base + path, data=content, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            sys.exit(f"{method} {path}: {error.code} {error.read().decode()}")

    def sign_up(self, email):
        asked = {"email": email, "password": PASSWORD, "fullName": "Ada Example"}
        registered = self.call("POST", "/api/auth/register", asked)
        code = self.code(email)
        confirmed = {"registrationId": registered["registrationId"], "email": email, "code": code}
        self.token = self.call("POST", "/api/auth/confirm-account", confirmed)["accessToken"]

    def code(self, email):
        """The code in the newest mail to an address."""
        for _ in range(100):
            for mail in sorted(self.outbox.glob(f"*-{email}.eml"), reverse=True):
                found = re.search(r"^(\d{6})\s*$", mail.read_text(), re.MULTILINE)
                if found:
                    return found.group(1)
            time.sleep(0.1)
        sys.exit(f"no mail with a code came for {email}")

    def link_token(self, email):
        """The token of the link in the newest mail to an address."""
        for _ in range(100):
            for mail in sorted(self.outbox.glob(f"*-{email}.eml"), reverse=True):
                letter = message_from_bytes(mail.read_bytes(), policy=policy.default).get_body(("plain",)).get_content()
                found = re.search(r"#(?:token|invitation)=([\w-]+)", letter)
                if found:
                    return found.group(1)
            time.sleep(0.1)
        sys.exit(f"no mail with a link came for {email}")

    def invite(self, project, email, role):
        """Asks somebody into a project; the token of the link."""
        self.call("POST", f"/api/projects/{project}/members", {"email": email, "role": role})
        return self.link_token(email)

    def member(self, project, email):
        """A new account that became a member of a project; the membership's id."""
        other = Client(self.base, self.outbox)
        other.sign_up(email)
        token = self.invite(project, email, "ANALYST")
        return other.call("POST", f"/api/project-invitations/{token}/accept")["id"]

    def project(self, name):
        return self.call("POST", "/api/projects", {"name": name})["id"]

    def document(self, project, text):
        """A document that was read."""
        edge = "edge-of-a-part"
        head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="note.md"\r\nContent-Type: text/markdown'
        body = f"{head}\r\n\r\n{text}\r\n--{edge}--\r\n".encode()
        path = f"/api/projects/{project}/documents"
        document = self.call("POST", path, body, f"multipart/form-data; boundary={edge}")["id"]
        self.wait(f"{path}/{document}", lambda found: found["status"] == "READY")
        return document

    def avatar(self):
        """A picture of whoever is signed in; gives their id."""
        edge = "edge-of-a-part"
        head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="me.png"\r\nContent-Type: image/png'
        picture = base64.b64decode(PICTURE)
        body = f"{head}\r\n\r\n".encode() + picture + f"\r\n--{edge}--\r\n".encode()
        return self.call("POST", "/api/profile/avatar", body, f"multipart/form-data; boundary={edge}")["id"]

    def run(self, project):
        """An analysis that has come to its end."""
        path = f"/api/projects/{project}/ai/runs"
        run = self.call("POST", path, {})["id"]
        self.wait(f"{path}/{run}", lambda found: found["status"] not in ("QUEUED", "PROCESSING"))
        return run

    def imported(self, project):
        """An import of a file that says nothing."""
        edge = "edge-of-a-part"
        head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="items.reqif"\r\nContent-Type: application/xml'
        body = f"{head}\r\n\r\n<REQ-IF/>\r\n--{edge}--\r\n".encode()
        return self.call("POST", f"/api/projects/{project}/imports", body, f"multipart/form-data; boundary={edge}")["id"]

    def wait(self, path, done):
        for _ in range(300):
            found = self.call("GET", path)
            if done(found):
                return
            time.sleep(0.1)
        sys.exit(f"{path} stayed as it was: {found}")

    def meeting(self, project, title):
        begins = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 86400))
        asked = {"title": title, "scheduledAt": begins}
        return self.call("POST", f"/api/projects/{project}/meetings", asked)["id"]

    def held(self, project):
        """A meeting that goes on with whoever is signed in; its id, and that of their place."""
        meeting = self.meeting(project, "Held")
        self.call("POST", f"/api/meetings/{meeting}/start")
        return meeting, self.call("POST", f"/api/meetings/{meeting}/join")["id"]

    def recording(self, project, mode):
        """A recording of a meeting that nobody has joined yet; its id, and the meeting's."""
        meeting = self.meeting(project, "Recorded")
        self.call("POST", f"/api/meetings/{meeting}/start")
        asked = {"uploadMode": mode, "mimeType": "audio/wav", "consentAttestation": {"text": "Everyone agreed."}}
        return self.call("POST", f"/api/meetings/{meeting}/recordings/start", asked)["id"], meeting

    def recorded(self, project):
        """A recording that is complete."""
        recording, _ = self.recording(project, "SINGLE_FILE")
        path = f"/api/recordings/{recording}"
        sound = b"RIFF" + (36 + 1600).to_bytes(4, "little") + b"WAVEfmt \x10\0\0\0\x01\0\x01\0"
        sound += (8000).to_bytes(4, "little") + (16000).to_bytes(4, "little") + b"\x02\0\x10\0data"
        sound += (1600).to_bytes(4, "little") + bytes(1600)
        self.call("PUT", f"{path}/file", sound, "application/octet-stream")
        self.call("POST", f"{path}/stop", {})
        self.wait(path, lambda found: found["status"] == "READY")
        return recording

    def reviewer(self, project, email):
        """Asks somebody to review a project; the invitation's id, and the token of the link."""
        asked = {"invitees": [{"email": email}], "permission": "APPROVER"}
        invitation = self.call("POST", f"/api/projects/{project}/review-invitations", asked)["items"][0]["id"]
        return invitation, self.link_token(email)

    def guest(self, meeting, email):
        """Asks a guest into a meeting; the invitation's id, and the token of the link."""
        asked = {"invitees": [{"email": email}]}
        invitation = self.call("POST", f"/api/meetings/{meeting}/invitations/guests", asked)["items"][0]["id"]
        return invitation, self.link_token(email)


def schemathesis(config, document, base, report, options):
    """Runs it once; whether nothing failed."""
    command = [
        os.environ.get("SCHEMATHESIS", "schemathesis"), "--config-file", str(config), "run", str(document),
        "--url", base, "--seed", SEED, "--no-color", "--report", "junit", "--report-junit-path", str(report), *options,
    ]
    return subprocess.run(command, stdin=subprocess.DEVNULL, cwd=config.parent).returncode == 0


def pipeline(binary, document, options):
    """Drives the pipeline service; whether nothing failed."""
    data = pathlib.Path(tempfile.mkdtemp(prefix="colloquy-contract-pipeline-"))
    with server(binary, data, "pipeline", "--listen", "127.0.0.1:0") as base:
        client = Client(base, data / "outbox")
        client.token = SERVICE_KEY
        job = "0189a0f0-0000-7000-8000-000000000001"
        source = {"id": "a", "kind": "DOCUMENT", "name": "a.txt", "text": "The system must ring."}
        client.call("POST", "/internal/process-json", {"jobId": job, "analysisType": "FULL", "sources": [source]})
        client.wait(f"/internal/jobs/{job}", lambda found: found["status"] == "COMPLETED")
        os.environ |= {"SERVICE_KEY": SERVICE_KEY, "JOB": job}
        passed = []
        for name in ("known", "unknown"):
            config = data / f"{name}.toml"
            text = (HERE / "pipeline.toml").read_text()
            config.write_text(text if name == "known" else text.split("# Known ids:")[0])
            print(f"the pipeline service, with {name} ids:", flush=True)
            passed.append(schemathesis(config, document, base, data / f"{name}.xml", options))
    if not all(passed):
        print(f"{(data / 'server.log').read_text()[-4000:]}\nreports and the service's log: {data}")
        return False
    shutil.rmtree(data, ignore_errors=True)
    return True


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    binary, document, options = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
    data = pathlib.Path(tempfile.mkdtemp(prefix="colloquy-contract-"))
    print(f"seed {SEED}", flush=True)
    with server(binary, data) as base:
        client = Client(base, data / "outbox")
        client.sign_up(EMAIL)
        admin = [binary, "admin", "set-operator", "--email", EMAIL, "--data", str(data)]
        subprocess.run(admin, check=True, stdout=subprocess.DEVNULL)
        project = client.project("Clinic booking")
        held, place = client.held(project)
        invitation, token = client.guest(held, "rosa@example.org")
        revoked, _ = client.guest(held, "vera@example.org")
        _, accepted = client.guest(held, "nils@example.org")
        nobody = Client(base, data / "outbox")
        _, review_token = client.reviewer(project, "emmy@example.org")
        _, reviewed = client.reviewer(project, "olga@example.org")
        guest = nobody.call("POST", f"/api/meeting-invitations/{accepted}/accept", {"displayName": "Nils"})
        os.environ |= {
            "EMAIL": EMAIL,
            "PASSWORD": PASSWORD,
            "PROJECT": project,
            "USER_ID": client.avatar(),
            "EDITED_PROJECT": client.project("To be edited"),
            "RECORDING": client.recorded(project),
            "CHUNKED_RECORDING": client.recording(project, "CHUNKED")[0],
            "FILE_RECORDING": client.recording(project, "SINGLE_FILE")[0],
            "STOPPED_RECORDING": client.recording(project, "CHUNKED")[0],
            "DELETED_RECORDING": client.recording(project, "CHUNKED")[0],
            "DELETED_PROJECT": client.project("To be deleted"),
            "MEETING": client.meeting(project, "Kick-off"),
            "STARTED_MEETING": client.meeting(project, "To be started"),
            "ENDED_MEETING": client.meeting(project, "To be ended"),
            "CANCELLED_MEETING": client.meeting(project, "To be cancelled"),
            "DOCUMENT": client.document(project, "# Needs\n\nThe system must book an appointment within two seconds.\n"),
            "DELETED_DOCUMENT": client.document(project, "# Draft\n\nThe clerk shall print the list of the day.\n"),
            "RUN": client.run(project),
            "MEMBER": client.member(project, "grace@example.org"),
            "REMOVED_MEMBER": client.member(project, "alan@example.org"),
            "HELD_MEETING": held,
            "PARTICIPANT": place,
            "REMOVED_PARTICIPANT": guest["participant"]["id"],
            "MEETING_INVITATION": invitation,
            "MEETING_INVITATION_TOKEN": token,
            "REVOKED_MEETING_INVITATION": revoked,
            "INVITATION": client.invite(project, "mary@example.org", "STAKEHOLDER"),
            # Another one than that of the token, which resending makes worthless.
            "RESENT_REVIEW_INVITATION": client.reviewer(project, "mary@example.org")[0],
            "REVIEW_INVITATION_TOKEN": review_token,
            "REVOKED_REVIEW_INVITATION": client.reviewer(project, "lise@example.org")[0],
            "REVIEW_TOKEN": nobody.call("POST", f"/api/review-invitations/{reviewed}/accept")["reviewToken"],
            "FEEDBACK": client.call("POST", f"/api/projects/{project}/feedback", {"targetType": "SUMMARY", "comment": "Good."})["id"],
            "IMPORT": client.imported(project),
            "EXPORT": client.call("POST", f"/api/projects/{project}/ai/results-dashboard/exports", {"format": "MARKDOWN"})["id"],
        }
        passed = []
        for name in ("known", "unknown"):
            config = data / f"{name}.toml"
            text = (HERE / "schemathesis.toml").read_text()
            config.write_text(text if name == "known" else text.split("# Known ids:")[0])
            print(f"with {name} ids:", flush=True)
            passed.append(schemathesis(config, document, base, data / f"{name}.xml", options))
    if not all(passed):
        print(f"{(data / 'server.log').read_text()[-4000:]}\nreports and the server's log: {data}")
        sys.exit(1)
    shutil.rmtree(data, ignore_errors=True)
    if not pipeline(binary, document, options):
        sys.exit(1)


if __name__ == "__main__":
    main()
