import { describe, expect, it } from 'vitest';
import {
  filterReleases,
  parseFilter,
} from '../../../../src/features/console/browser/screens/overview-filter.ts';
import { releasesOf } from './fixture-releases.ts';

const releases = releasesOf(1_000);
const found = (query: string) =>
  filterReleases(releases, parseFilter(new URLSearchParams(query))).map(({ version }) => version);

describe('the filter of the overview', () => {
  it('shows everything without one, and ignores a status that it does not know', () => {
    expect(found('')).toHaveLength(1_000);
    expect(found('status=strange')).toHaveLength(1_000);
  });

  it.each([
    ['status=paused', ['2.7.2']],
    ['status=yanked', ['2.7.0']],
    ['status=active&q=2.8.0', ['2.8.0']],
    ['status=replaced&q=2.8.0', ['2.8.0-beta.3', '2.8.0+32']],
    ['status=draft', ['2.9.0']],
    ['status=rolling_out', ['2.9.0-nightly.20261123', '2.8.0']],
    ['status=rolling_out&channel=stable', ['2.8.0']],
    ['q=NIGHTLY', ['2.9.0-nightly.20261123']],
    ['q=2.8.0+windows-arm64', ['2.8.0', '2.8.0-beta.3', '2.8.0+32']],
  ])('%s', (query, versions) => {
    expect(found(query)).toEqual(versions);
  });

  it('a status counts on the channel that is asked for alone', () => {
    expect(found('status=rolling_out&channel=beta')).toEqual([]);
  });

  it('finds nothing without failing', () => {
    expect(found('q=%3Cimg%3E')).toEqual([]);
    expect(found('channel=unknown')).toEqual([]);
  });
});
