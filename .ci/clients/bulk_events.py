"""Sends so many events to a door by elasticsearch or opensearch-py: `python bulk_events.py PACKAGE URL KEY EVENTS`."""

import importlib
import sys
import time

package, url, key, events = sys.argv[1:]
client_module = importlib.import_module(f"{package}py" if package == "opensearch" else package)
helpers = importlib.import_module(f"{client_module.__name__}.helpers")

if package == "opensearch":
    client = client_module.OpenSearch(url, http_auth=("shipper", key), http_compress=True)
else:
    client = client_module.Elasticsearch(url, basic_auth=("shipper", key), http_compress=True)
    print("greeted by", client.info()["version"]["number"])
now = int(time.time() * 1000)
BATCH = 500


def action(index):
    log = {"index": index, "text": '\u00fc "quoted" \\ \n'}
    event = {"shieldZoneId": 7, "timestamp": now - index, "logId": f"c-{index}", "ruleId": str(index % 10), "log": log}
    return {"_index": "waf", "_id": "passed over", "_source": event}


for begin in range(0, int(events), BATCH):
    for _ in range(300):
        try:
            stored, errors = helpers.bulk(client, [action(index) for index in range(begin, begin + BATCH)])
            assert (stored, errors) == (BATCH, []), errors
            break
        except client_module.ConnectionError:
            # A program that is killed takes longer to come back than the client tries by itself.
            time.sleep(0.1)
    else:
        sys.exit(1)
