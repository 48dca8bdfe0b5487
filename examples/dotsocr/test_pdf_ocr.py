"""Send a PDF to an OCR service and see what it answers, or start one here: `a2c ocr`.

python examples/dotsocr/test_pdf_ocr.py http://127.0.0.1:8008/extract FILE.pdf OUT_DIR

The key of the service comes from A2C_DIGEST_OCR_KEY. The exit code is 1 where the service fails.
"""

import os
import sys

from a2c_smcp.digest.dotsocr.remote_tools import call_pdf
from a2c_smcp.digest.framework_protocol import make_request


def main(url: str, pdf: str, out_dir: str) -> int:
    params = {"pdf_path": pdf, "out_dir": out_dir, "ocr_url": url, "ocr_key": os.environ.get("A2C_DIGEST_OCR_KEY")}
    response = call_pdf(make_request("dotsocr_pdf", params=params))
    data = response["data"]
    if data is None:
        print(f"failed: {response['error']}")
        return 1
    print(f"{data.get('page_count', '?')} pages in {response['meta']['duration_ms']} ms")
    print(f"text: {data['text_path']}")
    for image in data["images"]:
        print(f"image: {image}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 4 else __doc__)
