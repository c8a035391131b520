import { renderCommands } from './commands.ts';
import { renderEnvExample, renderSettings } from './settings.ts';

/** Path below the repository and text of every file that is made from code. */
export function renderReferences(): ReadonlyMap<string, string> {
  return new Map([
    ['docs/operations/settings.md', renderSettings()],
    ['docs/publishing/commands.md', renderCommands()],
    ['.env.example', renderEnvExample()],
  ]);
}
