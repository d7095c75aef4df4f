/** Who observed the events, as SIEMs tell their sources apart. */
export const PRODUCT = { vendor: 'shieldlog', name: 'shieldlog', version: '0.1.0' } as const;
