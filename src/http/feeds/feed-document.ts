import type { ChannelListing } from '../../operations/list-channel.ts';
import {
  filePath,
  type Protocol,
  type ProtocolResponse,
  type Question,
} from '../../protocols/protocol.ts';
import { type Rendered, rendered } from '../conditional.ts';
import { createOnce } from '../rendered-once.ts';

/** A dialect's answer, ready to be sent. */
export interface FeedDocument extends Pick<ProtocolResponse, 'status' | 'headers'> {
  readonly rendered: Rendered;
}

export function render({ status, headers, body }: ProtocolResponse): FeedDocument {
  return { status, headers, rendered: rendered(body) };
}

export interface FeedDocuments {
  /** Undefined when the dialect has no answer: there is no release for the client. */
  documentFor(
    protocol: Protocol,
    question: Question,
    found: ChannelListing,
  ): FeedDocument | undefined;
}

/**
 * Renders the document of an offer once for all clients that get the same one. Answers without an offer
 * depend on the client's version, and are rendered for each request.
 */
export function createFeedDocuments(publicUrl: () => string): FeedDocuments {
  const once = createOnce<FeedDocument>();
  return {
    documentFor: (protocol, question, found) => {
      const { offered, isRestricted, olderReleases } = found;
      const { platform, arch, formats, application } = question.query;
      const { document } = question;
      // The catalog's own name: the address may use an alias.
      const channel = found.channel.name;
      const base = publicUrl();
      const input = {
        document,
        platform,
        arch,
        formats,
        isRestricted,
        olderReleases,
        fileUrl: (version: string, filename: string) =>
          `${base}/feeds/${encodeURIComponent(application)}/${encodeURIComponent(channel)}/${protocol.name}/${filePath(version, filename)}`,
      };
      if (offered === undefined) {
        const { reason } = found.decision;
        const response = protocol.renderNoUpdate(question, reason, input);
        return response && render(response);
      }
      const { release, artifact } = offered;
      const make = (): FeedDocument =>
        render(
          protocol.shape === 'feed'
            ? protocol.renderListing({ ...input, release, artifact })
            : protocol.renderOffer({ ...input, release, artifact }),
        );
      if (question.isPersonal === true) return make();
      const key = [protocol.name, application, channel, document, platform, arch, formats];
      const parts = [release, artifact, isRestricted, base, ...olderReleases];
      return once.get(JSON.stringify(key), parts, make);
    },
  };
}
