import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { type RecordedRequest, startForClients, withoutBatons } from './recorded-requests.ts';

/**
 * `node record-client.ts FILE COMMAND…` runs a foreign client against a new program: the command gets its address and a
 * token as two more arguments. The requests and their answers are written to FILE, and the status is that of the command.
 */
const [file = '', command = '', ...options] = process.argv.slice(2);
const app = await startForClients();
const recorded: RecordedRequest[] = [];
const batons: (string | null)[] = [];

const passed = ({ authorization, 'content-type': type }: IncomingHttpHeaders): Record<string, string> => ({
  ...(authorization === undefined ? {} : { authorization }),
  ...(type === undefined ? {} : { 'content-type': type }),
});

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method = '', url: path = '', headers } = request;
  // Some clients ask by GET which version is spoken.
  const body = method === 'GET' ? null : Buffer.concat(chunks);
  const answer = await fetch(`${app.url}${path}`, { method, headers: passed(headers), body });
  const text = await answer.text();
  const { authorization, 'content-type': contentType = null } = headers;
  batons.push(answer.ok ? JSON.parse(text.split('\n', 1)[0] ?? '').baton : null);
  recorded.push({
    path,
    isAuthorized: authorization === `Bearer ${app.full}`,
    contentType,
    body: withoutBatons(Buffer.concat(chunks).toString(), batons),
    status: answer.status,
    answer: withoutBatons(text, batons),
  });
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(text);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const client = spawn(command, [...options, url, app.full], { stdio: 'inherit' });
process.exitCode = await new Promise<number>((resolve, reject) => {
  client.once('error', reject);
  client.once('close', (status) => resolve(status ?? 1));
});
server.closeAllConnections();
server.close();
await app.stop();
writeFileSync(file, `${JSON.stringify(recorded, null, 1)}\n`);
