/** The log of a process; pino's loggers implement it. Never pass it a secret or a presigned URL. */
export interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
