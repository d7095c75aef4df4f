"""Sends the records of a file, one a line, to a door by splunk_handler: `python splunk_handler_events.py URL KEY FILE`."""

import logging
import sys
from urllib.parse import urlsplit

from splunk_handler import SplunkHandler

url, token, file = sys.argv[1:]
address = urlsplit(url)
handler = SplunkHandler(
    host=address.hostname,
    port=address.port,
    protocol="http",
    verify=False,
    token=token,
    index="main",
    force_keep_ahead=True,
    queue_size=500,
    flush_interval=0.1,
    retry_count=60,
    retry_backoff=0.1,
)
logger = logging.getLogger("events")
logger.addHandler(handler)
logger.setLevel(logging.INFO)
with open(file, encoding="utf-8") as lines:
    for line in lines:
        logger.info(line.rstrip("\n"))
handler.close()
