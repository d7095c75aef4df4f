// Sends the records of a file, one a line, to a door by rsyslogd, with a queue on disk: `node rsyslog.mjs URL KEY FILE`. Once rsyslogd is
// killed, and started again on the queue that it left.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const [url, key, file] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'shieldlog-rsyslog-'));
const [config, statistics, queue] = [join(folder, 'rsyslog.conf'), join(folder, 'statistics'), join(folder, 'queue')];
mkdirSync(queue);
writeFileSync(
  config,
  `global(workDirectory="${queue}" maxMessageSize="64k")
module(load="imfile")
module(load="omelasticsearch")
module(load="impstats" interval="1" format="json" log.syslog="off" log.file="${statistics}")
template(name="record" type="string" string="%msg%")
input(type="imfile" file="${file}" tag="waf" ruleset="waf")
ruleset(name="waf" queue.type="disk" queue.filename="waf" queue.maxDiskSpace="1g" queue.checkpointInterval="1"
        queue.dequeueBatchSize="500" queue.timeoutShutdown="10000") {
  action(type="omelasticsearch" server="${url}" uid="any" pwd="${key}" searchIndex="waf" searchType=""
         bulkmode="on" template="record" action.resumeRetryCount="-1" action.resumeInterval="1")
}
`,
);

/** The last statistics of a part of rsyslogd. */
function statisticsOf(origin, name) {
  const lines = existsSync(statistics) ? readFileSync(statistics, 'utf8').split('\n').slice(0, -1) : [];
  const all = lines.map((line) => JSON.parse(line.slice(line.indexOf('{'))));
  return all.findLast((one) => one.origin === origin && one.name === name);
}

function start() {
  const child = spawn('rsyslogd', ['-n', '-f', config, '-i', join(folder, 'pid')], { stdio: 'inherit' });
  const ended = new Promise((resolve) => child.once('close', resolve));
  return { child, ended };
}

async function until(isSo) {
  for (let attempt = 0; attempt < 1_200; attempt += 1) {
    if (isSo()) return;
    await sleep(100);
  }
  console.log('rsyslogd is not done:', JSON.stringify(statisticsOf('core.queue', 'waf')));
  process.exitCode = 1;
}

const first = start();
await until(() => statisticsOf('omelasticsearch', 'omelasticsearch')?.submitted > 0);
first.child.kill('SIGKILL');
await first.ended;
rmSync(statistics);
const second = start();
await until(() => statisticsOf('core.queue', 'waf')?.size === 0);
// It stops once what it has taken out of the queue is answered.
second.child.kill('SIGTERM');
await second.ended;
rmSync(folder, { recursive: true });
