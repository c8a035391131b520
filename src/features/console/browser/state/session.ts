import { createSession, type Session } from '../../../../web/browser/session.ts';

/** @param base the path of the service: empty, or `/slipway` behind a proxy */
export const openSession = (base: string): Session =>
  createSession({ service: location.origin + base.replace(/\/$/, ''), client: 'Console' });
