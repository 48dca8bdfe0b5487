"""The options that say where to connect and as whom."""

import ssl
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from a2c_smcp.cli.command import Context
from a2c_smcp.cli.connect_options import credentials
from a2c_smcp.errors import BadRequest
from tests.unit.cli.running import a2c, context

ENV = "A2C_AGENT_"
SEAT = ("--url", "http://127.0.0.1:9", "--office", "lab")


def found(env: dict[str, str] | None = None, **options: Any) -> dict[str, Any]:
    plain = context()
    where = Context(plain.commands, plain.stdin, plain.stdout, plain.stderr, env or {})
    given = {"token": None, "token_file": None, "api_key": None, "header": None, "ca": None} | options
    return credentials(where, Namespace(**given), ENV)


def test_headers_are_names_and_values() -> None:
    given = found(header=["access_token=a=b", "X-Tenant= lab ", "x-empty="])
    assert given == {"headers": {"access_token": "a=b", "X-Tenant": "lab", "x-empty": ""}}


def test_a_variable_holds_a_header_on_each_line_and_gives_way_to_the_option() -> None:
    env = {"A2C_AGENT_HEADER": "access_token=k\nx-tenant=lab\n"}
    assert found(env) == {"headers": {"access_token": "k", "x-tenant": "lab"}}
    assert found(env, header=["a=b"]) == {"headers": {"a": "b"}}


@pytest.mark.parametrize("wrong", ["s3cret", "=s3cret", "a b=s3cret", "a=s3cret\nb=c", "a=s3cret\x00", "ä=s3cret"])
def test_what_is_no_header_is_refused_without_its_value(wrong: str) -> None:
    with pytest.raises(BadRequest, match="NAME=VALUE") as refusal:
        found(header=[wrong])
    assert "s3cret" not in str(refusal.value) or wrong == "s3cret"


def test_arguments_may_follow_a_header() -> None:
    run = a2c("agent", "call", *SEAT, "--header", "a=b", "--header", "broken", "echo", "text=x")
    assert (run.code, run.err) == (
        1,
        "error 400: --header: 'broken' is not followed by =VALUE, or is no name of a header (NAME=VALUE)\n",
    )


def test_a_file_of_certificates_must_hold_some(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="cannot be read"):
        found(ca=str(tmp_path / "none.pem"))
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing")
    with pytest.raises(BadRequest, match="holds no certificates in PEM form"):
        found({"A2C_AGENT_CA": str(empty)})


def test_certificates_of_a_file_are_trusted_beside_those_of_the_system() -> None:
    authority = ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt"
    trust = found(ca=authority)["ssl_context"]
    assert trust.verify_mode is ssl.CERT_REQUIRED
    assert trust.check_hostname
