// Measures what rules of alerts cost, on the real program:
//   node bench/rule-speed.ts [--only parts,cost,delivery,backtest] [--events 600000] [--turns 6] [--rate 30000] [--batch 1000]
//     [--seconds 60] [--attacks 120] [--stored 10000000] [--page 2000] [--memory-limit-mb 1024]
// `cost` is the CPU of the whole process for each stored event, by several sets of rules in turns with none. `delivery` is the time until a
// receiver is told of an attack. `backtest` is the CPU of POST /alerts/test over `--stored` events. `parts` is what parsing, matching and
// counting take alone, in this process. Everything checks that rules count what was made for them.
import { givenOptions, listOption } from './options.ts';
import { circumstances, circumstancesText } from './report/circumstances.ts';
import { count, line, textTable } from './report/figures.ts';
import { ruleBacktest } from './rules/rule-backtest.ts';
import { ruleCost } from './rules/rule-cost.ts';
import { ruleDelivery } from './rules/rule-delivery.ts';
import { ruleParts } from './rules/rule-parts.ts';

const MEASURES = ['parts', 'cost', 'delivery', 'backtest'] as const;

const {
  only,
  'memory-limit-mb': memoryLimitMb,
  ...given
} = givenOptions({
  only: MEASURES.join(),
  events: 600_000,
  turns: 6,
  rate: 30_000,
  batch: 1_000,
  seconds: 60,
  attacks: 120,
  stored: 10_000_000,
  page: 2_000,
  'memory-limit-mb': 1_024,
});
const { events, turns, rate, batch, seconds, attacks, stored, page } = given;
const tell = (what: string): void => void process.stderr.write(`${what}\n`);
const show = (text: string): void => void process.stdout.write(`${text}\n\n`);

show(circumstancesText(circumstances({})));
for (const measure of listOption('only', only, MEASURES)) {
  switch (measure) {
    case 'parts': {
      const { header, rows } = ruleParts({ events: Math.min(events, 200_000), page });
      show(textTable('In this process, µs of CPU a stored event; each column has what stands before it', header, rows));
      break;
    }
    case 'cost': {
      const { header, rows } = await ruleCost({ events, rate, batch, turns, memoryLimitMb, tell });
      const title = `µs of CPU of the program for each of ${count(events)} stored events, at ${count(rate)} a second, by ${turns} turns`;
      show(textTable(`${title}: the medians, and what is more than without rules`, header, rows));
      break;
    }
    case 'delivery': {
      const { eventsPerSecond, shares, header, rows } = await ruleDelivery({ rate, seconds, attacks, batch, memoryLimitMb, tell });
      show(
        textTable(`From the answer of the intake to the message, at ${count(eventsPerSecond)} events/s; goal: p99 below 2 s`, header, rows),
      );
      show(
        Object.entries(shares)
          .map(([process, share]) => line(`share of a core: ${process}`, share.toFixed(2)))
          .join('\n'),
      );
      break;
    }
    case 'backtest': {
      const { header, rows } = await ruleBacktest({ events: stored, memoryLimitMb, tell });
      show(textTable(`POST /alerts/test over ${count(stored)} stored events`, header, rows));
      break;
    }
    default:
      measure satisfies never;
  }
}
