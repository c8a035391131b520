import { pino } from 'pino';
import { isRecord } from './json-record.ts';
import { printableText } from './printable.ts';

/** `auto`: text when the output is a terminal, else JSON. */
export type LogFormat = 'auto' | 'json' | 'text';

/** Writes the lines of a log to standard output, as JSON for programs or as text for a person. */
export interface LogOutput {
  /** @param lines JSON, each with its line feed */
  write(lines: string): void;
  /** True when a person reads the lines. */
  readonly isText: boolean;
}

/** The part of a standard stream that {@link openLogOutput} needs. */
interface OutputStream {
  readonly fd: number;
  readonly isTTY?: boolean;
  hasColors?(): boolean;
}

/** While a process cannot write its log lines, it keeps them in memory up to this size, and drops further lines. */
const UNWRITTEN_BYTES_MAX = 1024 * 1024;

export async function openLogOutput(format: LogFormat, stdout: OutputStream): Promise<LogOutput> {
  // The stream is synchronous. Otherwise a flush at the end would wait forever when the reader of the pipe has stopped
  // reading.
  const stream = pino.destination({ fd: stdout.fd, sync: true, maxLength: UNWRITTEN_BYTES_MAX });
  // A full disk must not stop the service: log lines are lost instead.
  stream.on('error', () => {});
  const isText = format === 'text' || (format === 'auto' && stdout.isTTY === true);
  if (!isText) return { isText, write: (lines) => void stream.write(lines) };
  const render = await createLineRenderer(stdout.hasColors?.() === true);
  return {
    isText,
    write: (lines) => {
      for (const line of lines.split('\n')) if (line !== '') stream.write(render(line));
    },
  };
}

/**
 * Renders a line of JSON as text. Imports the renderer only here, because a service that writes JSON does not need it.
 */
export async function createLineRenderer(colorize: boolean): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty');
  const options = {
    colorize,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
    // Leaves these two out, because a terminal shows one process on one machine.
    ignore: 'pid,hostname',
  };
  const general = prettyFactory(options);
  const request = prettyFactory({
    ...options,
    ignore: `${options.ignore},request_id,method,url,remote_address,status,duration_ms`,
    messageFormat: '{method} {url} {status}, {duration_ms} ms, {remote_address}',
  });
  return (line) => {
    const facts = withoutControls(JSON.parse(line)) as Facts;
    return (facts.msg === 'request' ? request : general)(briefly(facts));
  };
}

interface Facts {
  readonly msg?: unknown;
  readonly err?: { readonly type?: unknown; readonly stack?: unknown };
}

/** Finds the message of an AppError in its stack, because pino adds the messages of the causes to `message`. */
const MESSAGE_IN_STACK = /^AppError: ([\s\S]*?)(?=\n {4}at |\ncaused by: |$)/;

/** Leaves out the stack of an AppError, as the command line does: the message of an AppError says what to do. */
function briefly(facts: Facts): object {
  const { err, ...rest } = facts;
  const [, reason] = MESSAGE_IN_STACK.exec(String(err?.stack)) ?? [];
  return err?.type === 'AppError' && reason !== undefined ? { ...rest, reason } : facts;
}

/**
 * Replaces control characters. Clients choose addresses and names, so control characters in these texts must not reach
 * the terminal.
 */
function withoutControls(value: unknown): unknown {
  if (typeof value === 'string') return printableText(value);
  if (Array.isArray(value)) return value.map(withoutControls);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, withoutControls(each)]),
  );
}
