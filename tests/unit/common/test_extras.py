"""The command that installs an optional part."""

import json

import pytest

from a2c_smcp.common.extras import checkout_command, install_hint, wheel_of


def test_a_checkout_is_installed_from_its_own_folder() -> None:
    assert checkout_command("agent,cli") == "pip install '.[agent,cli]'"
    assert checkout_command() == "pip install ."
    assert install_hint("ocr") == "pip install '.[ocr]' in the checkout of this project"


@pytest.mark.parametrize(
    ("record", "wheel"),
    [
        (None, None),
        ("no json", None),
        ("[]", None),
        (json.dumps({"url": "file:///home/me/a2c", "dir_info": {"editable": True}}), None),
        (
            json.dumps({"url": "file:///home/me/dist/a2c_smcp-1.0.0-py3-none-any.whl"}),
            "a2c_smcp-1.0.0-py3-none-any.whl",
        ),
        (json.dumps({"url": "file:///a%20b/a2c_smcp-1.0.0%2Bx-py3-none-any.whl"}), "a2c_smcp-1.0.0+x-py3-none-any.whl"),
    ],
)
def test_the_wheel_of_an_installation_is_named_without_its_folder(record: str | None, wheel: str | None) -> None:
    assert wheel_of(record) == wheel


def test_an_installation_from_a_wheel_is_completed_from_that_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("a2c_smcp.common.extras._wheel", lambda: "a2c_smcp-1.0.0-py3-none-any.whl")
    assert install_hint("ocr") == "pip install './a2c_smcp-1.0.0-py3-none-any.whl[ocr]' in the folder of that wheel"
