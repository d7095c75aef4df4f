"""One search by the package that openapi-python-client makes: `python openapi_python_client.py URL KEY FROM TO`."""

import importlib
import pkgutil
import sys

import shieldlog_client
from shieldlog_client.api.event_logs import search_event_logs
from shieldlog_client.client import Client
from shieldlog_client.models.event_logs_search_request import EventLogsSearchRequest

url, key, start, end = sys.argv[1:]

for module in pkgutil.walk_packages(shieldlog_client.__path__, "shieldlog_client."):
    importlib.import_module(module.name)

request = {"from": int(start), "to": int(end), "filters": [{"field": "action", "op": "eq", "value": ["blocked"]}], "pageSize": 10}
with Client(base_url=url, headers={"AccessKey": key}) as client:
    answer = search_event_logs.sync(7, client=client, body=EventLogsSearchRequest.from_dict(request))
assert (answer.total, len(answer.rows), answer.groups) == (120, 10, None), answer
assert answer.rows[0].fields["action"] == "blocked" and answer.rows[0].log["RemoteIp"] == "192.0.2.7", answer.rows[0]
