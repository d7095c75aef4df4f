import { exactly, INT32, input, namesOf, numbered, TEXT, YES_OR_NO } from './object-schema.ts';
import { shieldEnvelope } from './shield-envelope.ts';

/** What a shield zone does with a bot. `None` clears what was set. */
export const BOT_ACTIONS = { None: 0, Block: 1, Allow: 2, Ignore: 3 } as const;

export const BOT_CATEGORIES = { None: 0, SEO: 1, AIScraper: 2, AITool: 3, Tool: 4, Ads: 5, Preview: 6, Social: 7, System: 255 } as const;

export type BotCategory = (typeof BOT_CATEGORIES)[keyof typeof BOT_CATEGORIES];

export const BOT_ACTION_INPUT = input({ action: { ...numbered(BOT_ACTIONS), description: `${namesOf(BOT_ACTIONS)}; None clears it` } }, [
  'action',
]);

export const BOT_CATEGORIZATION = shieldEnvelope(
  exactly({
    botId: INT32,
    userAgentMatch: TEXT,
    isVerifiable: YES_OR_NO,
    category: numbered(BOT_CATEGORIES),
    action: numbered(BOT_ACTIONS),
  }),
);
