/** The finding of a check of a store, its settings or a service. */
export interface Finding {
  readonly outcome: 'ok' | 'warning' | 'failed' | 'skipped';
  /** The facts, as sentences. */
  readonly detail: string;
  /** The advice for the operator; null when there is nothing to do, or when the detail contains the advice. */
  readonly remedy: string | null;
}

export interface Check extends Finding {
  readonly name: string;
}
