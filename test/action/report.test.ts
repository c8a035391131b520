import { describe, expect, it } from 'vitest';
import { messageIn } from '../../scripts/action/report.ts';

describe('the message of a command that failed', () => {
  const json = `${JSON.stringify({ error: { code: 'unavailable', message: 'The store is down.' } })}\n`;

  it.each([
    ['alone', json],
    ['after a warning', `(node:1) NodeDeprecationWarning: old\n    at x\n{"y":1}\n${json}`],
    ['with line ends of Windows', `Warning: two profiles\r\n${json.trim()}\r\n`],
  ])('is that of its JSON, %s', (_where, stderr) => {
    expect(messageIn(stderr)).toBe('The store is down.');
  });

  it.each(['error: unknown option', 'Warning: a\nerror: b', '{"error":', 'null', '{"other":1}'])(
    'is the output when that has none: %j',
    (stderr) => {
      expect(messageIn(`${stderr}\n`)).toBe(stderr);
    },
  );

  it('says that there is none', () => {
    expect(messageIn('\n')).toMatch(/^The command ended without a message\./);
  });
});
