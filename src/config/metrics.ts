import { count, duration, httpUrl } from './kinds.ts';
import { optional, withDefault } from './setting.ts';

/** Usage counts, public metrics, and the monitoring proxy. */

export const metricsSettings = {
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
  MONITORING_UPSTREAM: optional(
    httpUrl,
    'The address that `/monitoring/health` and `/monitoring/overview` are forwarded to',
    { otherwise: 'the process answers itself', example: 'https://monitoring.example.com' },
  ),
};
