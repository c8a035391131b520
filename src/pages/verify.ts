import { html } from 'ghtml';
import type { Platform } from '../domain/platform.ts';

/** The commands that compute the SHA-256 of a file. */

/** Mean the same in every shell, also between double quotes. */
const SAFE_NAME = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}._+()@, -]*$/u;
const BARE_NAME = /^[A-Za-z0-9._+-]+$/;
const PLACEHOLDER = 'FILE';

/** The name of a file for a command line. A name that a shell could obey is replaced: publishers choose names. */
export function commandName(filename: string): string {
  if (!SAFE_NAME.test(filename)) return PLACEHOLDER;
  return BARE_NAME.test(filename) ? filename : `"${filename}"`;
}

/** @param filename of a file of the platform, as an example */
export function renderHashCommands(platform: Platform, filename: string): string {
  const file = commandName(filename);
  const commands: Readonly<Record<Platform, readonly (readonly [string, string])[]>> = {
    windows: [
      ['PowerShell', `Get-FileHash ${file} -Algorithm SHA256`],
      ['Command prompt', `certutil -hashfile ${file} SHA256`],
    ],
    macos: [['Terminal', `shasum -a 256 ${file}`]],
    linux: [['Terminal', `sha256sum ${file}`]],
  };
  return html`<dl class="commands">
!${commands[platform].map(
    ([
      where,
      command,
    ]) => html`<div><dt>${where}</dt><dd><pre tabindex="0"><code>${command}</code></pre></dd></div>
`,
  )}</dl>`;
}
