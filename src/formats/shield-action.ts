/** What an action of the shield is called in the formats. The numbers are those of OCSF 1.8, the texts those of ECS 9. */
export interface ShieldAction {
  /** The shield kept the request from going on as it came. */
  readonly isAlert: boolean;
  readonly ecsType: 'allowed' | 'denied' | 'info';
  readonly ecsOutcome: 'success' | 'failure' | 'unknown' | undefined;
  readonly ocsfAction: readonly [id: number, caption: string];
  readonly ocsfDisposition: readonly [id: number, caption: string];
  readonly ocsfSeverity: readonly [id: number, caption: string];
  /** 0 to 10, or `Unknown`. */
  readonly cefSeverity: string;
}

const KNOWN: ReadonlyMap<string, ShieldAction> = new Map<string, ShieldAction>([
  [
    'blocked',
    {
      isAlert: true,
      ecsType: 'denied',
      ecsOutcome: 'failure',
      ocsfAction: [2, 'Denied'],
      ocsfDisposition: [2, 'Blocked'],
      ocsfSeverity: [3, 'Medium'],
      cefSeverity: '6',
    },
  ],
  [
    'challenged',
    {
      isAlert: true,
      ecsType: 'info',
      ecsOutcome: 'unknown',
      // OCSF names a challenge as the example of a known disposition whose action is not known: the client decides what becomes of it.
      ocsfAction: [0, 'Unknown'],
      ocsfDisposition: [23, 'Challenge'],
      ocsfSeverity: [2, 'Low'],
      cefSeverity: '3',
    },
  ],
  [
    'logged',
    {
      isAlert: false,
      ecsType: 'info',
      ecsOutcome: undefined,
      ocsfAction: [3, 'Observed'],
      ocsfDisposition: [17, 'Logged'],
      ocsfSeverity: [2, 'Low'],
      cefSeverity: '3',
    },
  ],
  [
    'allowed',
    {
      isAlert: false,
      ecsType: 'allowed',
      ecsOutcome: 'success',
      ocsfAction: [1, 'Allowed'],
      ocsfDisposition: [1, 'Allowed'],
      ocsfSeverity: [1, 'Informational'],
      cefSeverity: '1',
    },
  ],
]);

const UNSAID: ShieldAction = {
  isAlert: false,
  ecsType: 'info',
  ecsOutcome: undefined,
  ocsfAction: [0, 'Unknown'],
  ocsfDisposition: [0, 'Unknown'],
  ocsfSeverity: [0, 'Unknown'],
  cefSeverity: 'Unknown',
};

/** By the event's action, in any case. One that has no counterpart is `99` in OCSF with the event's own text as its caption. */
export function shieldAction(text: string): ShieldAction {
  if (text === '') {
    return UNSAID;
  }
  const other = [99, text] as const;
  return KNOWN.get(text) ?? KNOWN.get(text.toLowerCase()) ?? { ...UNSAID, ocsfAction: other, ocsfDisposition: other };
}
