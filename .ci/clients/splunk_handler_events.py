"""Sends so many events to a door by splunk_handler: `python splunk_handler_events.py URL KEY EVENTS`."""

import json
import logging
import sys
import time
from urllib.parse import urlsplit

from splunk_handler import SplunkHandler

url, token, events = sys.argv[1:]
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
now = int(time.time() * 1000)
for index in range(int(events)):
    log = {"index": index, "text": "\u00fc \"quoted\" \\ \n"}
    event = {"shieldZoneId": 7, "timestamp": now - index, "logId": f"c-{index}", "ruleId": str(index % 10), "log": log}
    logger.info(json.dumps(event))
handler.close()
