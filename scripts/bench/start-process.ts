import { openStore } from '../../src/app/stores.ts';
import { loadConfig } from '../../src/config.ts';
import { systemClock, systemRandomness } from '../../src/system.ts';
import { answerParent } from './child.ts';
import { type ContentPlan, fillStore } from './content.ts';

/** Fills the store that `env` configures, with the settings of the service. */

answerParent({
  fill: async ({ env, plan }) => {
    const config = loadConfig(env as Record<string, string>);
    const deps = { config, clock: systemClock, randomness: systemRandomness };
    await fillStore(await openStore(deps), plan as ContentPlan);
  },
});
