"""The files of `deploy/`: each says what the programs it starts understand."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from a2c_smcp.cli.parsing import parse
from a2c_smcp.cli.table import COMMANDS
from a2c_smcp.server.registry.redis_url import parse_endpoint
from a2c_smcp.server.settings import ENDPOINTS, ENV, ServerSettings, load

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
KINDS = {
    "Deployment": "apps/v1",
    "Ingress": "networking.k8s.io/v1",
    "NetworkPolicy": "networking.k8s.io/v1",
    "PodDisruptionBudget": "policy/v1",
    "Service": "v1",
}


def settings_of(env: Mapping[str, str], folder: Path) -> ServerSettings:
    """Return the settings that a server would make of these variables, wherever its keys are."""
    keys = folder / "api-keys"
    keys.write_text("a-key-of-a-test\n", encoding="utf-8")
    ours = {name: value for name, value in env.items() if name.startswith(ENV)}
    return load({}, ours | {f"{ENV}API_KEY_FILE": str(keys)})


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return found


def objects(kind: str = "") -> list[dict[str, Any]]:
    text = (DEPLOY / "kubernetes" / "a2c.yaml").read_text(encoding="utf-8")
    return [one for one in yaml.safe_load_all(text) if not kind or one["kind"] == kind]


def unit(path: Path) -> dict[str, list[str]]:
    """Return the lines of a unit by their keys."""
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found.setdefault(key, []).append(value)
    return found


def dockerfile() -> list[list[str]]:
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]


# Docker


def test_the_image_is_made_of_files_that_exist_and_extras_that_exist() -> None:
    copied = [
        word for words in dockerfile() if words[:1] == ["COPY"] and "--from=build" not in words for word in words[1:-1]
    ]
    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    (extras,) = re.findall(r"'\.\[([a-z,]+)\]'", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"))
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert all(re.search(rf"^{extra} = \[", pyproject, re.MULTILINE) for extra in extras.split(","))


def test_the_image_is_built_without_a_compiler() -> None:
    build = dockerfile()[: dockerfile().index(["FROM", "python:3.13-slim"])]
    assert ["ENV", "A2C_PURE_PYTHON=1"] in build
    assert any(words[0] == "COPY" and "hatch_build.py" in words for words in build)


@pytest.mark.skipif(shutil.which("sed") is None, reason="there is no sed")
def test_the_versions_of_the_image_are_read_out_of_the_lock() -> None:
    (script,) = re.findall(r"RUN (sed .*) constraints\.txt > pinned\.txt", (DEPLOY / "Dockerfile").read_text("utf-8"))
    words = [*shlex.split(script), str(ROOT / "requirements" / "constraints.txt")]
    lines = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
    assert len(lines) > 100
    assert [line for line in lines if line and not re.fullmatch(r"[A-Za-z0-9._-]+==\S+( ;.*)?", line)] == []


def test_the_image_runs_the_server_as_nobody_and_asks_whether_it_is_ready(tmp_path: Path) -> None:
    by_word: dict[str, list[list[str]]] = {}
    for word, *rest in dockerfile():
        by_word.setdefault(word, []).append(rest)
    assert by_word["USER"] == [["65532:65532"]]
    assert by_word["CMD"] == [['["server"]']]
    env = dict(pair.split("=", 1) for pair in by_word["ENV"][-1])
    assert settings_of(env, tmp_path).host == "0.0.0.0"
    assert any("/readyz" in word for word in by_word["HEALTHCHECK"][0])


def test_the_services_fit_together() -> None:
    file = compose()
    services = file["services"]
    for service in services.values():
        assert set(service.get("depends_on", ())) <= set(services)
        assert set(service["networks"]) <= set(file["networks"])
        assert set(service.get("secrets", ())) <= set(file["secrets"])
        for volume in service.get("volumes", ()):
            assert (DEPLOY / volume.split(":")[0]).is_file()
    build = services["server"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).samefile(DEPLOY / "Dockerfile")
    assert "healthcheck" in services["redis"]


def test_the_server_of_compose_understands_its_settings(tmp_path: Path) -> None:
    env = compose()["services"]["server"]["environment"]
    settings = settings_of(env, tmp_path)
    assert settings.redis is not None
    (host,) = parse_endpoint(settings.redis).hosts
    assert host == ("redis", 6379)
    assert env[f"{ENV}API_KEY_FILE"] == "/run/secrets/api-keys"


def test_the_keys_of_compose_are_where_git_does_not_look() -> None:
    keys = DEPLOY / compose()["secrets"]["api-keys"]["file"]
    assert (keys.parent / ".gitignore").read_text(encoding="utf-8").splitlines()[-2:] == ["*", "!.gitignore"]


def test_nothing_is_open_to_other_machines() -> None:
    published = [port for service in compose()["services"].values() for port in service.get("ports", ())]
    assert published == ["127.0.0.1:8000:8000"]
    assert compose()["networks"]["inside"] == {"internal": True}


# systemd


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_a_unit_starts_a_command_that_exists_and_restarts_it(path: Path) -> None:
    found = unit(path)
    (started,) = found["ExecStart"]
    program, *words = shlex.split(started)
    if Path(program).name == "a2c":
        assert not parse(words, COMMANDS).help
    else:
        assert Path(program).name == "redis-server"
    assert found["Restart"] == ["always"]
    assert found["NoNewPrivileges"] == ["yes"]


def test_the_server_finds_the_redis_of_its_unit_and_its_keys(tmp_path: Path) -> None:
    found = unit(DEPLOY / "systemd" / "a2c-server.service")
    env = dict(line.split("=", 1) for line in found["Environment"])
    settings = settings_of(env, tmp_path)
    assert settings.redis is not None
    (redis,) = unit(DEPLOY / "systemd" / "a2c-redis.service")["ExecStart"]
    assert f"--unixsocket {parse_endpoint(settings.redis).path} " in redis
    assert env[f"{ENV}API_KEY_FILE"] == "%d/api-keys"
    assert found["LoadCredential"] == ["api-keys:/etc/a2c/api-keys"]


def test_systemd_itself_finds_no_fault_with_the_units(tmp_path: Path) -> None:
    systemd = shutil.which("systemd-analyze")
    if systemd is None:
        pytest.skip("there is no systemd here")
    for path in UNITS:
        # What it starts is not installed where the tests run.
        text = re.sub(r"^(ExecStart)=\S+", r"\1=/bin/true", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    files = [str(tmp_path / path.name) for path in UNITS]
    done = subprocess.run([systemd, "verify", *files], capture_output=True, text=True, timeout=60, check=False)
    ours = [line for line in done.stderr.splitlines() if "a2c-" in line]
    assert (done.returncode, ours) == (0, [])


# Kubernetes


def test_every_object_is_of_a_known_kind_and_in_the_namespace() -> None:
    assert {(one["kind"], one["apiVersion"]) for one in objects()} == set(KINDS.items())
    assert {one["metadata"]["namespace"] for one in objects()} == {"a2c"}
    names = [(one["kind"], one["metadata"]["name"]) for one in objects()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("one", objects("Deployment"), ids=lambda one: one["metadata"]["name"])
def test_a_deployment_selects_its_own_pods_and_gives_them_no_privileges(one: dict[str, Any]) -> None:
    spec = one["spec"]
    pod = spec["template"]["spec"]
    assert spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
    assert {"requests", "limits"} == set(container["resources"])


def deployment(name: str) -> dict[str, Any]:
    (found,) = (one for one in objects("Deployment") if one["metadata"]["name"] == name)
    return found


def labels(name: str) -> Mapping[str, str]:
    found: Mapping[str, str] = deployment(name)["spec"]["template"]["metadata"]["labels"]
    return found


def container(name: str) -> dict[str, Any]:
    found: dict[str, Any] = deployment(name)["spec"]["template"]["spec"]["containers"][0]
    return found


@pytest.mark.parametrize("one", objects("Service"), ids=lambda one: one["metadata"]["name"])
def test_a_service_leads_to_a_port_of_its_pods(one: dict[str, Any]) -> None:
    name = one["metadata"]["name"]
    assert one["spec"]["selector"].items() <= labels(name).items()
    ports = {port["name"] for port in container(name)["ports"]}
    assert {port["targetPort"] for port in one["spec"]["ports"]} <= ports


def test_the_server_of_kubernetes_understands_its_settings(tmp_path: Path) -> None:
    found = container("a2c-server")
    env = {one["name"]: one["value"] for one in found["env"]}
    settings = settings_of(env, tmp_path)
    assert settings.redis is not None
    (host,) = parse_endpoint(settings.redis).hosts
    assert host == ("a2c-redis", 6379)
    mount = found["volumeMounts"][0]["mountPath"]
    assert env[f"{ENV}API_KEY_FILE"] == f"{mount}/api-keys"
    assert found["ports"] == [{"name": "http", "containerPort": settings.port}]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert found[probe]["httpGet"]["path"] in ENDPOINTS
        assert found[probe]["httpGet"]["port"] == "http"


def test_outside_leads_to_socket_io_and_nothing_else() -> None:
    (ingress,) = objects("Ingress")
    (rule,) = ingress["spec"]["rules"]
    (path,) = rule["http"]["paths"]
    assert (path["path"], path["backend"]["service"]) == (
        ServerSettings().path,
        {"name": "a2c-server", "port": {"name": "http"}},
    )
    assert ingress["spec"]["tls"][0]["hosts"] == [rule["host"]]


def test_only_servers_reach_the_redis_and_one_of_them_always_stays() -> None:
    (policy,) = objects("NetworkPolicy")
    assert policy["spec"]["podSelector"]["matchLabels"].items() <= labels("a2c-redis").items()
    (rule,) = policy["spec"]["ingress"]
    assert rule["from"][0]["podSelector"]["matchLabels"].items() <= labels("a2c-server").items()
    (budget,) = objects("PodDisruptionBudget")
    assert budget["spec"]["selector"]["matchLabels"].items() <= labels("a2c-server").items()
    assert budget["spec"]["minAvailable"] < deployment("a2c-server")["spec"]["replicas"]
