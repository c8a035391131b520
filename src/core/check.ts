/** What a check of a store, its settings or a service found. */
export interface Finding {
  readonly outcome: 'ok' | 'warning' | 'failed' | 'skipped';
  /** What is the case, as sentences. */
  readonly detail: string;
  /** What the operator must do; null when there is nothing to do, or when the detail says it. */
  readonly remedy: string | null;
}

export interface Check extends Finding {
  readonly name: string;
}
