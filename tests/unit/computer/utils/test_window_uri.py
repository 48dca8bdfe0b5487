from a2c_smcp import uris
from a2c_smcp.computer.utils import window_uri


def test_the_contract_names_lead_to_the_one_implementation() -> None:
    assert (window_uri.ParsedWindowUri, window_uri.parse_window_uri, window_uri.build_window_uri) == (
        uris.ParsedWindowUri,
        uris.parse_window_uri,
        uris.build_window_uri,
    )
