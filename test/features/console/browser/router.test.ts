import { describe, expect, it } from 'vitest';
import {
  hrefOf,
  parsePath,
  pathOf,
  type Route,
} from '../../../../src/features/console/browser/router.ts';

const ROUTES: readonly [string, Route][] = [
  ['/console', { screen: 'home' }],
  ['/console/desktop', { screen: 'overview', app: 'desktop' }],
  ['/console/-/doctor', { screen: 'doctor' }],
  ['/console/doctor', { screen: 'overview', app: 'doctor' }],
  ['/console/desktop/releases/1.5.0', { screen: 'release', app: 'desktop', version: '1.5.0' }],
  [
    '/console/desktop/releases/1.5.0%2Bbuild.7/rollout',
    { screen: 'rollout', app: 'desktop', version: '1.5.0+build.7' },
  ],
  ['/console/desktop/adoption', { screen: 'adoption', app: 'desktop' }],
  ['/console/desktop/explain', { screen: 'explain', app: 'desktop' }],
  ['/console/desktop/history', { screen: 'history', app: 'desktop' }],
];

describe('the addresses of the console', () => {
  it.each(ROUTES)('%s is read, and written the same', (path, route) => {
    expect(parsePath(path)).toEqual(route);
    expect(pathOf(route)).toBe(path);
  });

  it.each([
    '/other',
    '/console/desktop/unknown',
    '/console/desktop/adoption/2',
    '/console/desktop/releases',
    '/console/desktop/releases/1.0.0/other',
    '/console/desktop/releases/1.0.0/rollout/more',
  ])('%s is no screen', (path) => {
    expect(parsePath(path)).toEqual({ screen: 'unknown' });
  });

  it('reads a broken escape as it is written', () => {
    expect(parsePath('/console/%E0%A4%A')).toEqual({ screen: 'overview', app: '%E0%A4%A' });
  });

  it('a slash in a name never becomes another screen', () => {
    const href = hrefOf({ screen: 'overview', app: 'a/releases/1' });
    expect(parsePath(href)).toEqual({ screen: 'overview', app: 'a/releases/1' });
  });

  it('leaves out filters that are not set', () => {
    const route: Route = { screen: 'overview', app: 'desktop' };
    expect(hrefOf(route, { q: '', status: null, channel: 'beta' })).toBe(
      '/console/desktop?channel=beta',
    );
  });
});
