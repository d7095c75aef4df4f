"""Sends the records of a file, one a line, to a door by elasticsearch or opensearch-py: `python bulk_events.py PACKAGE URL KEY FILE`."""

import importlib
import json
import sys
import time

package, url, key, file = sys.argv[1:]
client_module = importlib.import_module(f"{package}py" if package == "opensearch" else package)
helpers = importlib.import_module(f"{client_module.__name__}.helpers")

if package == "opensearch":
    client = client_module.OpenSearch(url, http_auth=("shipper", key), http_compress=True)
else:
    client = client_module.Elasticsearch(url, basic_auth=("shipper", key), http_compress=True)
    print("greeted by", client.info()["version"]["number"])
BATCH = 500
with open(file, encoding="utf-8") as lines:
    actions = [{"_index": "waf", "_id": "passed over", "_source": json.loads(line)} for line in lines]

for begin in range(0, len(actions), BATCH):
    for _ in range(300):
        try:
            stored, errors = helpers.bulk(client, actions[begin : begin + BATCH])
            assert (stored, errors) == (BATCH, []), errors
            break
        except client_module.ConnectionError:
            # A program that is killed takes longer to come back than the client tries by itself.
            time.sleep(0.1)
    else:
        sys.exit(1)
