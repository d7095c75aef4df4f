/** The observer of the events, by which SIEMs tell sources apart. */
export const PRODUCT = { vendor: 'shieldlog', name: 'shieldlog', version: '0.1.0' } as const;
