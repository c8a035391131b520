/** Says what became of a release: in the log, in the summary of the job, and as outputs. */

interface Target {
  readonly os: string;
  readonly arch: string;
}

/** The part of `slipway publish --json` that is shown. */
export interface Published {
  readonly app: string;
  readonly version: string;
  readonly channel: string;
  readonly status: string;
  readonly draft: { readonly missing: readonly Target[] } | null;
  readonly changed: boolean;
  readonly warnings: readonly string[];
  readonly artifacts: readonly (Target & {
    readonly format: string;
    readonly filename: string;
    readonly size: number;
    readonly uploaded: boolean;
  })[];
}

/** @param json what the command printed */
export function outputsOf(published: Published, json: string): Readonly<Record<string, string>> {
  return {
    version: published.version,
    state: stateOf(published),
    missing: missingOf(published).join(','),
    channel: published.channel,
    // On one line, as steps read outputs.
    json: JSON.stringify(JSON.parse(json)),
  };
}

function stateOf({ draft, status }: Published): string {
  if (draft !== null) return 'draft';
  return status === 'active' ? 'offered' : status;
}

function missingOf({ draft }: Published): readonly string[] {
  return (draft?.missing ?? []).map(({ os, arch }) => `${os}-${arch}`);
}

/** The release in one sentence. */
function headlineOf(published: Published): string {
  const { app, version, channel } = published;
  const missing = missingOf(published);
  if (stateOf(published) !== 'draft') {
    return `${app} ${version} is ${stateOf(published)} on ${channel}.`;
  }
  if (missing.length === 0) {
    return `${app} ${version} is a draft of ${channel}. Clients see it when a step publishes ${version} without files.`;
  }
  return `${app} ${version} is a draft of ${channel}. Clients see it when these targets are published: ${missing.join(', ')}.`;
}

/** Lines for the log. */
export function logLines(published: Published): readonly string[] {
  const files = published.artifacts.map(
    (file) =>
      `  ${file.os} ${file.arch} ${file.format} ${file.filename} ${file.size} B, ${stored(file)}`,
  );
  return [headlineOf(published), ...files];
}

/** Markdown for the summary of the job. */
export function renderSummary(published: Published): string {
  const rows = published.artifacts.map((file) =>
    [file.os, file.arch, file.format, file.filename, String(file.size), stored(file)]
      .map(asText)
      .join(' | '),
  );
  const table = [
    '| platform | architecture | format | file | bytes | |',
    '| --- | --- | --- | --- | ---: | --- |',
    ...rows.map((row) => `| ${row} |`),
  ];
  return [
    `### ${asText(headlineOf(published))}`,
    ...(rows.length === 0 ? [] : [table.join('\n')]),
    ...published.warnings.map((warning) => `- ${asText(warning)}`),
    '',
  ].join('\n\n');
}

/**
 * Says why the command failed: the message of `--json`, which is its last line, because Node and the AWS SDK print warnings
 * before it. The whole output when that line is not JSON, as for a wrong option.
 */
export function messageIn(stderr: string): string {
  const printed = stderr.trim();
  try {
    return JSON.parse(printed.split('\n').at(-1) ?? '').error.message;
  } catch {
    return printed || 'The command ended without a message. A signal may have ended it.';
  }
}

/** @param message why the command failed */
export function renderFailure(message: string): string {
  return `### Not published\n\n${asText(message)}\n\n`;
}

function stored({ uploaded }: { readonly uploaded: boolean }): string {
  return uploaded ? 'uploaded' : 'already stored';
}

/** A text in which nothing is Markdown or HTML: names of files come from the build. */
function asText(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>()#|~!&]/g, '\\$&');
}
