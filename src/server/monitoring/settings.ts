import { httpUrl } from '../../core/settings/kinds.ts';
import { defineSettings, optional } from '../../core/settings/setting.ts';

export interface MonitoringSettings {
  /** Without a trailing slash; undefined: the process answers from its own data. */
  readonly monitoringUpstream: string | undefined;
}

/** The monitoring proxy. */
export const monitoringSettings = defineSettings({
  title: 'Metrics and monitoring',
  settings: {
    MONITORING_UPSTREAM: optional(
      httpUrl,
      'The address that `/monitoring/health` and `/monitoring/overview` are forwarded to',
      { otherwise: 'the process answers itself', example: 'https://monitoring.example.com' },
    ),
  },
  read: (env): MonitoringSettings => ({ monitoringUpstream: env.MONITORING_UPSTREAM }),
  withoutOthers: () => ({ monitoringUpstream: undefined }),
});
