/** Where a process says what happened; pino's loggers are ones. Never given a secret or a presigned URL. */
export interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
