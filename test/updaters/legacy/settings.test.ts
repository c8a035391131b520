import { expect, it } from 'vitest';
import { loadConfig } from '../../../src/config.ts';

const appsOf = (text: string) => [
  ...loadConfig({ DATA_DIR: '/tmp/data', LEGACY_APPS: text }).legacy.applications,
];

it('LEGACY_APPS maps addresses to applications', () => {
  expect(appsOf('Acme/Desktop=desktop, pro=notes')).toEqual([
    ['Acme/Desktop', 'desktop'],
    ['pro', 'notes'],
  ]);
});

it.each([
  ['acme/desktop=Desktop', '"Desktop" is not a usable application name'],
  ['acme/desktop/x=desktop', 'must be pairs'],
  ['acme/desktop=a=b', 'must be pairs'],
  ['acme/desktop=a,acme/Desktop=b', 'names acme/Desktop twice'],
  ['api/desktop=desktop', '/api is an address of the service itself'],
])('LEGACY_APPS=%s is refused', (text, message) => {
  expect(() => appsOf(text)).toThrow(message);
});
