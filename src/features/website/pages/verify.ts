import { html } from 'ghtml';
import type { Platform } from '../../../domain/platform.ts';

/** The commands that compute the SHA-256 of a file. */

/** The characters in this pattern have no special meaning in any shell, even between double quotes. */
const SAFE_NAME = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}._+()@, -]*$/u;
const BARE_NAME = /^[A-Za-z0-9._+-]+$/;
const PLACEHOLDER = 'FILE';

/**
 * The name of a file for a command line. Publishers choose the names of files. When a shell could run a part of a name,
 * the function returns a placeholder.
 */
export function commandName(filename: string): string {
  if (!SAFE_NAME.test(filename)) return PLACEHOLDER;
  return BARE_NAME.test(filename) ? filename : `"${filename}"`;
}

const COMMANDS: Readonly<
  Record<Platform, readonly (readonly [string, (file: string) => string])[]>
> = {
  windows: [
    ['Windows PowerShell', (file) => `Get-FileHash ${file} -Algorithm SHA256`],
    ['Windows command prompt', (file) => `certutil -hashfile ${file} SHA256`],
  ],
  macos: [['Terminal of macOS', (file) => `shasum -a 256 ${file}`]],
  linux: [['Terminal of Linux', (file) => `sha256sum ${file}`]],
};

/** @param filenames for each platform with files, the name of one file as an example */
export function renderHashCommands(filenames: readonly (readonly [Platform, string])[]): string {
  const commands = filenames.flatMap(([platform, filename]) =>
    COMMANDS[platform].map(([where, command]) => [where, command(commandName(filename))] as const),
  );
  return html`<dl class="commands">
!${commands.map(
    ([
      where,
      command,
    ]) => html`<div><dt>${where}</dt><dd><pre tabindex="0"><code>${command}</code></pre></dd></div>
`,
  )}</dl>`;
}
