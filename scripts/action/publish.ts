import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { publishArguments } from './inputs.ts';
import {
  logLines,
  messageIn,
  outputsOf,
  type Published,
  renderFailure,
  renderSummary,
} from './report.ts';

/**
 * The step of action.yml: publishes a release, and tells the workflow what was published. It imports only built-in
 * modules, because the action does not run `npm ci` when its tag contains the publisher.
 */

const PUBLISHER = path.resolve(import.meta.dirname, '../../dist/slipway.mjs');
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

process.exitCode = publish();

function publish(): number {
  let arguments_: readonly string[];
  try {
    arguments_ = publishArguments(process.env);
  } catch (error) {
    return fail((error as Error).message, 2);
  }
  const { stdout, stderr, status, error } = spawnSync(
    process.execPath,
    [PUBLISHER, ...arguments_],
    { encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  if (error !== undefined) return fail(error.message, 1);
  if (status !== 0) return fail(messageIn(stderr), status ?? 1);
  report(JSON.parse(stdout), stdout);
  return 0;
}

function report(published: Published, json: string): void {
  print(logLines(published));
  for (const sentence of published.warnings) {
    const [, kind, text] = /^(Warning|Note): (.*)$/s.exec(sentence) ?? ['', 'Warning', sentence];
    annotate(kind === 'Note' ? 'notice' : 'warning', text);
  }
  for (const [name, value] of Object.entries(outputsOf(published, json))) {
    // The delimiter is random, so that no value can contain it and end early.
    const delimiter = randomUUID();
    append('GITHUB_OUTPUT', `${name}<<${delimiter}\n${value}\n${delimiter}\n`);
  }
  append('GITHUB_STEP_SUMMARY', renderSummary(published));
}

function fail(message: string, code: number): number {
  annotate('error', `${message} (exit code ${code})`);
  append('GITHUB_STEP_SUMMARY', renderFailure(message));
  return code;
}

/** File names come from the build, and GitHub must not run them as workflow commands. */
function print(lines: readonly string[]): void {
  const token = randomUUID();
  console.log([`::stop-commands::${token}`, ...lines, `::${token}::`].join('\n'));
}

/** GitHub shows the message in the log, and on the page of the workflow's run. */
function annotate(kind: 'error' | 'warning' | 'notice', message: string): void {
  const escaped = message.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  console.log(`::${kind} title=Slipway::${escaped}`);
}

function append(variable: 'GITHUB_OUTPUT' | 'GITHUB_STEP_SUMMARY', text: string): void {
  const file = process.env[variable];
  if (file !== undefined && file !== '') appendFileSync(file, text);
}
