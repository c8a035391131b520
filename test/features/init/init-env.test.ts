import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config.ts';
import { COMMAND_FACTS as FACTS } from '../../../src/features/command-facts.ts';
import type { Choices } from '../../../src/features/init/choices.ts';
import { renderEnvFile } from '../../../src/features/init/env-file.ts';

/** The `.env` file of `slipway init`. */

const BASE: Choices = {
  application: 'notes',
  channel: 'stable',
  store: { kind: 'directory', directory: './data' },
  publicUrl: undefined,
  ci: 'none',
};
const inDirectory = (directory: string): Choices => ({
  ...BASE,
  store: { kind: 'directory', directory },
});

describe('the .env file', () => {
  it('explains each setting in one line, from the descriptions of the settings', () => {
    const text = renderEnvFile(FACTS, BASE);
    expect(text).toContain(
      '# The address that clients use.\n# PUBLIC_URL=https://updates.example.com\n',
    );
    expect(text).toContain(
      '# The application of requests and commands that name none.\nDEFAULT_APP',
    );
    expect(text).not.toMatch(/[`\]]|AWS_/);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(120);
  });

  it.each(['C:\\new\\Ada B\\data', 'D:\\data', '/srv/my data #1', '~/data', '../data'])(
    'keeps the directory %s as it is',
    (directory) => {
      const settings = parseEnv(renderEnvFile(FACTS, inDirectory(directory)));
      expect(settings.DATA_DIR).toBe(directory);
      expect(() => loadConfig(settings)).not.toThrow();
    },
  );

  it.each(["it's", 'two\nlines'])('refuses the value %j, which it cannot contain', (directory) => {
    expect(() => renderEnvFile(FACTS, inDirectory(directory))).toThrow(
      /DATA_DIR has a quote or a control/,
    );
  });
});
