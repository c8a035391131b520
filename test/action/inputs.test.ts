import { describe, expect, it } from 'vitest';
import { publishArguments } from '../../scripts/action/inputs.ts';
import { HOSTILE } from './hostile.ts';

describe('the inputs of the action as arguments', () => {
  it('are options with values, then the version and the files', () => {
    const inputs = {
      INPUT_VERSION: 'v1.4.0',
      INPUT_FILES: 'dist\r\nother build/App.dmg\n\n',
      INPUT_EXPECT: 'windows-x64,linux-x64',
      INPUT_CREATE: 'true',
      INPUT_CHANNEL: 'beta',
      INPUT_APP: 'editor',
      INPUT_ROLLOUT: '1%@0h,100%@48h',
      INPUT_DRAFT: 'false',
      INPUT_NOTES_FILE: 'notes.md\nde=notes.de.md',
      INPUT_ARGS: '--requires=>=2.0.0\n--allow-prerelease',
    };
    expect(publishArguments(inputs)).toEqual([
      ...['publish', '--json', '--expect=windows-x64,linux-x64', '--create', '--channel=beta'],
      ...['--app=editor', '--rollout=1%@0h,100%@48h'],
      ...['--notes-file=notes.md', '--notes-file=de=notes.de.md'],
      ...['--requires=>=2.0.0', '--allow-prerelease'],
      ...['--', 'v1.4.0', 'dist', 'other build/App.dmg'],
    ]);
  });

  it('are few when only the version is given', () => {
    expect(publishArguments({ INPUT_VERSION: '1.4.0' })).toEqual([
      ...['publish', '--json', '--', '1.4.0'],
    ]);
  });

  it.each(HOSTILE)('are values only: %j', (value) => {
    const optionsOf = (arguments_: readonly string[]) =>
      arguments_.slice(2, arguments_.indexOf('--'));
    for (const [name, option] of [
      ['INPUT_EXPECT', '--expect='],
      ['INPUT_CHANNEL', '--channel='],
      ['INPUT_APP', '--app='],
      ['INPUT_ROLLOUT', '--rollout='],
      ['INPUT_NOTES_FILE', '--notes-file='],
    ] as const) {
      const options = optionsOf(publishArguments({ INPUT_VERSION: '1.0.0', [name]: value }));
      expect(options).toEqual(value.split('\n').map((line) => `${option}${line}`));
    }
    expect(optionsOf(publishArguments({ INPUT_VERSION: value, INPUT_FILES: value }))).toEqual([]);
    for (const name of ['CREATE', 'DRAFT']) {
      expect(() => publishArguments({ INPUT_VERSION: '1.0.0', [`INPUT_${name}`]: value })).toThrow(
        `The input "${name.toLowerCase()}" is ${JSON.stringify(value)}. Set it to true or false.`,
      );
    }
  });

  it.each([undefined, '', ' \n'])('need a version: %j', (version) => {
    expect(() => publishArguments({ INPUT_VERSION: version })).toThrow(
      'The input "version" is empty.',
    );
  });
});
