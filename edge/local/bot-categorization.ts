import type { DatabaseSync } from 'node:sqlite';
import { EdgeError } from '../edge-error.ts';
import { BOT_ACTIONS, BOT_CATEGORIES, type BotCategory } from '../operations/shield-zones.ts';
import { inPlaneTransaction } from './control-plane-state.ts';
import type { LocalResource } from './local-resource.ts';
import { shieldSuccess } from './local-resource.ts';

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

/** Earlier versions kept the names of categories. An unknown name becomes no category. */
const NUMBERED_CATEGORIES = `
  ALTER TABLE bot ADD COLUMN category_number INTEGER NOT NULL DEFAULT ${BOT_CATEGORIES.None};
  UPDATE bot SET category_number = CASE category
    WHEN 'search-engine' THEN ${BOT_CATEGORIES.SEO}
    WHEN 'seo' THEN ${BOT_CATEGORIES.SEO}
    WHEN 'ai-crawler' THEN ${BOT_CATEGORIES.AIScraper}
    WHEN 'monitoring' THEN ${BOT_CATEGORIES.Tool}
    WHEN 'link-preview' THEN ${BOT_CATEGORIES.Preview}
    ELSE ${BOT_CATEGORIES.None}
  END;
  ALTER TABLE bot DROP COLUMN category;
  ALTER TABLE bot RENAME COLUMN category_number TO category;
`;

const BOTS: readonly (readonly [match: string, verifiable: boolean, category: BotCategory])[] = [
  ['Googlebot', true, BOT_CATEGORIES.SEO],
  ['bingbot', true, BOT_CATEGORIES.SEO],
  ['DuckDuckBot', true, BOT_CATEGORIES.SEO],
  ['GPTBot', true, BOT_CATEGORIES.AIScraper],
  ['ClaudeBot', true, BOT_CATEGORIES.AIScraper],
  ['UptimeRobot', false, BOT_CATEGORIES.Tool],
  ['AhrefsBot', false, BOT_CATEGORIES.SEO],
  ['facebookexternalhit', false, BOT_CATEGORIES.Preview],
];

function setAction(db: DatabaseSync, zoneId: number, botId: number, action: number): unknown {
  const bot = db.prepare('SELECT user_agent_match, is_verifiable, category FROM bot WHERE id = ?').get(botId);
  if (bot === undefined) throw new EdgeError(404, 'bot.not_found', `There is no bot ${botId}`, { field: 'botId' });
  if (action === BOT_ACTIONS.None) db.prepare('DELETE FROM bot_action WHERE shield_zone_id = ? AND bot_id = ?').run(zoneId, botId);
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

/** Answers operation 5: the bots that the platform knows, with the action of each shield zone. */
export const botCategorization: LocalResource = {
  name: 'bot-categorization',
  migrations: [MIGRATION, NUMBERED_CATEGORIES],
  seed({ db }) {
    const insert = db.prepare('INSERT INTO bot (user_agent_match, is_verifiable, category) VALUES (?, ?, ?)');
    for (const [match, verifiable, category] of BOTS) insert.run(match, verifiable ? 1 : 0, category);
  },
  routes(app, { db }) {
    app.put<{ Params: { shieldZoneId: number; botId: number }; Body: { action: number } }>(
      '/shield/shield-zone/:shieldZoneId/bot-categorization/bots/:botId',
      ({ params, body }, reply) =>
        reply.send(shieldSuccess(inPlaneTransaction(db, () => setAction(db, params.shieldZoneId, params.botId, body.action)))),
    );
  },
};
