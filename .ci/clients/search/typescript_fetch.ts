// One search by the package that openapi-generator makes for fetch: `node typescript_fetch.js URL KEY FROM TO`.
import { Configuration, EventLogsApi, EventLogsFilterFieldEnum, EventLogsFilterOpEnum } from './client/index.js';

declare const process: { readonly argv: readonly string[] };

const [url = '', key = '', from, to] = process.argv.slice(2);
const api = new EventLogsApi(new Configuration({ basePath: url, apiKey: key }));
const { total, rows, groups } = await api.searchEventLogs({
  shieldZoneId: 7,
  eventLogsSearchRequest: {
    from: Number(from),
    to: Number(to),
    filters: [{ field: EventLogsFilterFieldEnum.Action, op: EventLogsFilterOpEnum.Eq, value: ['blocked'] }],
    pageSize: 10,
  },
});
const found = JSON.stringify([total, rows?.length, groups, rows?.[0]?.fields['action'], rows?.[0]?.log]);
if (found !== '[120,10,null,"blocked",{"RemoteIp":"192.0.2.7"}]') throw new Error(found);
