import { catalogKeys } from '../catalog/documents/facts.ts';
import { trustSettings } from '../releases/trust/settings.ts';
import { captchaSettings } from '../server/captcha/settings.ts';
import { housekeepingKeys } from '../server/housekeeping/keys.ts';
import { monitoringSettings } from '../server/monitoring/settings.ts';
import { serviceSettings } from '../server/settings.ts';
import { probeKeys } from '../store/keys.ts';
import { storeSettings } from '../store/open/settings.ts';
import { legacySettings } from '../updaters/legacy/settings.ts';
import { usageFacts } from '../usage/facts.ts';
import { accountFacts } from './accounts/facts.ts';
import { contactFacts } from './contact/facts.ts';
import { brandSettings } from './website/settings.ts';

/**
 * The settings of each room and feature, and the keys under which it stores objects. A command that opens a store loads
 * only this list, and no code of the service.
 *
 * The settings are in the order of their reference. A copy of a store first lists the objects that name other objects.
 * It lists the keys of each room and feature in the order of this list, so the keys of the catalog come before the keys
 * of accounts.
 */
export const FACTS = [
  { settings: serviceSettings, keys: housekeepingKeys },
  { settings: brandSettings },
  { settings: legacySettings },
  { settings: storeSettings, keys: probeKeys },
  { settings: trustSettings, keys: catalogKeys },
  accountFacts,
  { settings: captchaSettings },
  contactFacts,
  usageFacts,
  { settings: monitoringSettings },
] as const;
