/** Reports the result of a publication: in the log, in the summary of the job, and as outputs. */

interface Target {
  readonly os: string;
  readonly arch: string;
}

/** The part of the output of `slipway publish --json` that the action shows. */
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
    // The JSON is on one line, so that steps can read it as an output.
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

/** One sentence about the release. */
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
 * The reason why the command failed. It is in the JSON on the last line, because Node and the AWS SDK print warnings
 * before it. When the last line is not JSON, as after a wrong option, the reason is the whole output.
 */
export function messageIn(stderr: string): string {
  const printed = stderr.trim();
  try {
    return JSON.parse(printed.split('\n').at(-1) ?? '').error.message;
  } catch {
    return printed || 'The command ended without a message. A signal may have ended it.';
  }
}

/** @param message the reason why the command failed */
export function renderFailure(message: string): string {
  return `### Not published\n\n${asText(message)}\n\n`;
}

function stored({ uploaded }: { readonly uploaded: boolean }): string {
  return uploaded ? 'uploaded' : 'already stored';
}

/** Escapes a text so that no part of it is Markdown or HTML, because names of files come from the build. */
function asText(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>()#|~!&]/g, '\\$&');
}
