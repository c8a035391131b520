import type { Project } from '../../builds/project/project.ts';
import { feedUrl, PLACEHOLDER, setUpFor } from '../../cli/feeds/describe-feeds.ts';
import { textLines } from '../../cli/feeds/feeds-report.ts';
import { protocolNamed } from '../../cli/protocol-named.ts';
import { MINISIGN, type SignatureScheme, SPARKLE_ED25519 } from '../../domain/signature.ts';
import type { Choices } from './choices.ts';

/** The lines that the developer puts into the application itself, as `slipway feeds --updater` prints them. */
export function setUpLines({ tool }: Project, choices: Choices): readonly string[] {
  const { application, channel, publicUrl = PLACEHOLDER } = choices;
  const facts = { application, publicUrl };
  const lines = (tool?.updaters ?? []).flatMap((name, at) => {
    const protocol = protocolNamed(name);
    const feed = {
      application,
      url: feedUrl(facts, channel, protocol),
      isRestricted: false,
      publicKeys: publicKeysOf(name, tool?.publicKey),
    };
    // Only the first set-up says what the project has to remove.
    const { texts, notes } = setUpFor(
      protocol,
      feed,
      tool && (at === 0 ? tool : { ...tool, replaced: [] }),
    );
    return ['', `Lines for ${protocol.title}:`, ...textLines(texts, notes)];
  });
  if (lines.length === 0 || choices.publicUrl !== undefined) return lines;
  return [
    ...lines,
    '',
    `The address of the service is not known yet, so these lines have ${PLACEHOLDER}. After you set PUBLIC_URL, "slipway feeds --updater ${tool?.updaters[0]}" prints them again.`,
  ];
}

function publicKeysOf(
  updater: string,
  key: string | undefined,
): Partial<Record<SignatureScheme, string>> {
  if (key === undefined) return {};
  return updater === 'tauri' ? { [MINISIGN]: key } : { [SPARKLE_ED25519]: key };
}
