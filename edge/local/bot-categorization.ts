import type { DatabaseSync } from 'node:sqlite';
import { EdgeError } from '../edge-error.ts';
import type { LocalResource } from './local-resource.ts';
import { shieldSuccess } from './shield-success.ts';
import { inTransaction } from './state.ts';

const MIGRATION = `
  CREATE TABLE bot (
    id INTEGER PRIMARY KEY,
    user_agent_match TEXT NOT NULL,
    is_verifiable INTEGER NOT NULL,
    category TEXT NOT NULL
  ) STRICT;
  CREATE TABLE bot_action (
    shield_zone_id INTEGER NOT NULL,
    bot_id INTEGER NOT NULL REFERENCES bot (id),
    action INTEGER NOT NULL,
    PRIMARY KEY (shield_zone_id, bot_id)
  ) STRICT;
`;

const BOTS: readonly (readonly [match: string, verifiable: boolean, category: string])[] = [
  ['Googlebot', true, 'search-engine'],
  ['bingbot', true, 'search-engine'],
  ['DuckDuckBot', true, 'search-engine'],
  ['GPTBot', true, 'ai-crawler'],
  ['ClaudeBot', true, 'ai-crawler'],
  ['UptimeRobot', false, 'monitoring'],
  ['AhrefsBot', false, 'seo'],
  ['facebookexternalhit', false, 'link-preview'],
];

/** The action that clears what was set. */
const NONE = 0;

function setAction(db: DatabaseSync, zoneId: number, botId: number, action: number): unknown {
  const bot = db.prepare('SELECT user_agent_match, is_verifiable, category FROM bot WHERE id = ?').get(botId);
  if (bot === undefined) throw new EdgeError(404, 'bot.not_found', `There is no bot ${botId}`, { field: 'botId' });
  if (action === NONE) db.prepare('DELETE FROM bot_action WHERE shield_zone_id = ? AND bot_id = ?').run(zoneId, botId);
  else {
    const sql = 'INSERT INTO bot_action VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET action = excluded.action';
    db.prepare(sql).run(zoneId, botId, action);
  }
  return {
    botId,
    userAgentMatch: bot['user_agent_match'],
    isVerifiable: bot['is_verifiable'] === 1,
    category: bot['category'],
    action,
  };
}

/** The bots that the platform knows, and what each shield zone does with them. */
export const botCategorization: LocalResource = {
  name: 'bot-categorization',
  migrations: [MIGRATION],
  seed({ db }) {
    const insert = db.prepare('INSERT INTO bot (user_agent_match, is_verifiable, category) VALUES (?, ?, ?)');
    for (const [match, verifiable, category] of BOTS) insert.run(match, verifiable ? 1 : 0, category);
  },
  routes(app, { db }) {
    app.put<{ Params: { shieldZoneId: number; botId: number }; Body: { action: number } }>(
      '/shield/shield-zone/:shieldZoneId/bot-categorization/bots/:botId',
      ({ params, body }, reply) =>
        reply.send(shieldSuccess(inTransaction(db, () => setAction(db, params.shieldZoneId, params.botId, body.action)))),
    );
  },
};
