from a2c_smcp import uris
from a2c_smcp.computer.utils import dpe_uri


def test_the_contract_names_lead_to_the_one_implementation() -> None:
    assert (dpe_uri.ParsedDPEUri, dpe_uri.parse_dpe_uri, dpe_uri.build_dpe_uri) == (
        uris.ParsedDPEUri,
        uris.parse_dpe_uri,
        uris.build_dpe_uri,
    )
