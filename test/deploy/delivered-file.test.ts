import { expect, it } from 'vitest';
import { replaceParts } from './delivered-file.ts';

it('a test of a delivered file fails when the part that it replaces is not there', () => {
  expect(replaceParts('x.conf', 'listen 80; listen 80;', [['80', '81']])).toBe(
    'listen 81; listen 81;',
  );
  expect(() => replaceParts('x.conf', 'listen 80;', [['443', '81']])).toThrow(
    'deploy/x.conf has no "443"',
  );
});
