import { count, duration } from '../core/settings/kinds.ts';
import { defineSettings, withDefault } from '../core/settings/setting.ts';

export interface UsageSettings {
  readonly countersFlushMs: number;
  /** Public metrics do not show groups smaller than this. */
  readonly publicGroupMin: number;
}

/** Usage counts and public metrics. */
export const usageSettings = defineSettings({
  title: 'Metrics and monitoring',
  settings: {
    COUNTERS_FLUSH_INTERVAL: withDefault(
      duration({ min: '1s', max: '1h' }),
      '60s',
      'How often a process stores its counts. A crash loses at most the counts of this interval',
    ),
    PUBLIC_GROUP_MIN: withDefault(
      count,
      '10',
      'Public metrics are multiples of this number; smaller groups are not shown',
    ),
  },
  read: (env): UsageSettings => ({
    countersFlushMs: env.COUNTERS_FLUSH_INTERVAL,
    publicGroupMin: env.PUBLIC_GROUP_MIN,
  }),
});
