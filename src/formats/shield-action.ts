/** An action of the shield in the terms of the formats: numbers and captions of OCSF 1.8, texts of ECS 9, severities of CEF. */
export interface ShieldAction {
  /** Whether the shield blocked or challenged the request. */
  readonly isAlert: boolean;
  readonly ecsType: 'allowed' | 'denied' | 'info';
  readonly ecsOutcome: 'success' | 'failure' | 'unknown' | undefined;
  readonly ocsfAction: readonly [id: number, caption: string];
  readonly ocsfDisposition: readonly [id: number, caption: string];
  readonly ocsfSeverity: readonly [id: number, caption: string];
  /** `0` to `10`, or `Unknown`. */
  readonly cefSeverity: string;
}

const ACTIONS: ReadonlyMap<string, ShieldAction> = new Map(
  Object.entries<ShieldAction>({
    blocked: {
      isAlert: true,
      ecsType: 'denied',
      ecsOutcome: 'failure',
      ocsfAction: [2, 'Denied'],
      ocsfDisposition: [2, 'Blocked'],
      ocsfSeverity: [3, 'Medium'],
      cefSeverity: '6',
    },
    challenged: {
      isAlert: true,
      ecsType: 'info',
      ecsOutcome: 'unknown',
      // OCSF gives a challenge as its example of a disposition without an action, because the client decides what follows.
      ocsfAction: [0, 'Unknown'],
      ocsfDisposition: [23, 'Challenge'],
      ocsfSeverity: [2, 'Low'],
      cefSeverity: '3',
    },
    logged: {
      isAlert: false,
      ecsType: 'info',
      ecsOutcome: undefined,
      ocsfAction: [3, 'Observed'],
      ocsfDisposition: [17, 'Logged'],
      ocsfSeverity: [2, 'Low'],
      cefSeverity: '3',
    },
    allowed: {
      isAlert: false,
      ecsType: 'allowed',
      ecsOutcome: 'success',
      ocsfAction: [1, 'Allowed'],
      ocsfDisposition: [1, 'Allowed'],
      ocsfSeverity: [1, 'Informational'],
      cefSeverity: '1',
    },
  }),
);

const NO_ACTION: ShieldAction = {
  isAlert: false,
  ecsType: 'info',
  ecsOutcome: undefined,
  ocsfAction: [0, 'Unknown'],
  ocsfDisposition: [0, 'Unknown'],
  ocsfSeverity: [0, 'Unknown'],
  cefSeverity: 'Unknown',
};

/** Looks an event's action up, in any case. An action that OCSF does not have gets the number 99 and its own text as the caption. */
export function shieldAction(text: string): ShieldAction {
  if (text === '') {
    return NO_ACTION;
  }
  const other = [99, text] as const;
  return ACTIONS.get(text) ?? ACTIONS.get(text.toLowerCase()) ?? { ...NO_ACTION, ocsfAction: other, ocsfDisposition: other };
}
