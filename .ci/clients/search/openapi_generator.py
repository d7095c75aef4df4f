"""One search by the package that openapi-generator makes for Python: `python openapi_generator.py URL KEY FROM TO`."""

import importlib
import pkgutil
import sys

import openapi_client

url, key, start, end = sys.argv[1:]

for module in pkgutil.walk_packages(openapi_client.__path__, "openapi_client."):
    importlib.import_module(module.name)

request = {"from": int(start), "to": int(end), "filters": [{"field": "action", "op": "eq", "value": ["blocked"]}], "pageSize": 10}
configuration = openapi_client.Configuration(host=url, api_key={"AccessKey": key})
with openapi_client.ApiClient(configuration) as client:
    body = openapi_client.EventLogsSearchRequest.from_dict(request)
    answer = openapi_client.EventLogsApi(client).search_event_logs(7, body)
assert (answer.total, len(answer.rows), answer.groups) == (120, 10, None), answer
assert answer.rows[0].fields["action"] == "blocked" and answer.rows[0].log["RemoteIp"] == "192.0.2.7", answer.rows[0]
