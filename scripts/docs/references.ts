import { renderCommands } from './commands.ts';
import { renderEnvExample, renderSettings } from './settings.ts';

/** For every file that is made from code, its path below the repository and its text. */
export function renderReferences(): ReadonlyMap<string, string> {
  return new Map([
    ['docs/operations/settings.md', renderSettings()],
    ['docs/publishing/commands.md', renderCommands()],
    ['.env.example', renderEnvExample()],
  ]);
}
