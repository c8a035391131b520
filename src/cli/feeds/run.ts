import type { FoundTool } from '../../builds/project/project.ts';
import { readProject } from '../../builds/project/read-project.ts';
import { readCatalog } from '../../catalog/reading/find-revision.ts';
import { isAppError } from '../../core/errors.ts';
import { MINISIGN, type SignatureScheme, SPARKLE_ED25519 } from '../../domain/signature.ts';
import {
  type ApplicationSettings,
  applicationSettingsOf,
} from '../../releases/applications/application-settings.ts';
import { openContext } from '../context.ts';
import { printJson } from '../output.ts';
import { protocolNamed } from '../protocol-named.ts';
import type { Terminal } from '../terminal.ts';
import { describeChannel, PLACEHOLDER } from './describe-feeds.ts';
import { feedsJson, printFeeds } from './feeds-report.ts';
import { listFeeds } from './list-feeds.ts';

interface FeedsOptions {
  readonly app?: string;
  readonly channel?: string;
  readonly updater?: string;
  readonly json: boolean;
}

export async function feeds(terminal: Terminal, options: FeedsOptions): Promise<void> {
  const { updater } = options;
  if (updater !== undefined) protocolNamed(updater);
  const context = await openContext(terminal);
  const { config, place } = context;
  const application = options.app ?? config.defaultApplication;
  const { signed } = await readCatalog(context, application);
  const facts = {
    application,
    defaultApplication: config.defaultApplication,
    publicUrl: config.publicUrl ?? PLACEHOLDER,
    tools: updater === undefined && !options.json ? [] : await toolsHere(),
    // The keys that verify the application's signatures, by scheme.
    publicKeys: publicKeysOf(applicationSettingsOf(signed.settings ?? {})),
  };
  const channels = listFeeds(signed, { tiers: config.accounts.tiers, channel: options.channel });
  const listing = {
    application,
    revision: signed.revision,
    publicUrl: config.publicUrl,
    placeholder: PLACEHOLDER,
    place: place.text,
    channels: channels.map((channel) => describeChannel(facts, channel, updater)),
  };
  if (options.json) printJson(terminal, feedsJson(listing));
  else printFeeds(terminal, { ...listing, updater });
}

/**
 * The build tools of the project in the current directory: the lines to paste have the syntax of this project's own
 * file.
 */
async function toolsHere(): Promise<readonly FoundTool[]> {
  try {
    const { tool, others } = await readProject(process.cwd());
    return tool === undefined ? [] : [tool, ...others];
  } catch (error) {
    // The command prints the addresses even when a file of the project is malformed.
    if (isAppError(error, 'invalid_request')) return [];
    throw error;
  }
}

function publicKeysOf({
  tauriPubkey: tauri,
  sparklePubkey: sparkle,
}: ApplicationSettings): Partial<Record<SignatureScheme, string>> {
  return {
    ...(tauri === null ? {} : { [MINISIGN]: tauri.text }),
    ...(sparkle === null ? {} : { [SPARKLE_ED25519]: sparkle.text }),
  };
}
