"""Send a picture of a page to an OCR service and print the text that it reads.

python examples/dotsocr/test_image_ocr.py http://127.0.0.1:8008/extract PAGE.png OUT_DIR

The key of the service comes from A2C_DIGEST_OCR_KEY. The exit code is 1 where the service fails.
"""

import os
import sys
from pathlib import Path

from a2c_smcp.digest.dotsocr.remote_tools import call_image
from a2c_smcp.digest.framework_protocol import make_request


def main(url: str, image: str, out_dir: str) -> int:
    params = {"image_path": image, "out_dir": out_dir, "ocr_url": url, "ocr_key": os.environ.get("A2C_DIGEST_OCR_KEY")}
    response = call_image(make_request("dotsocr_image", params=params))
    data = response["data"]
    if data is None:
        print(f"failed: {response['error']}")
        return 1
    print(Path(data["text_path"]).read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 4 else __doc__)
