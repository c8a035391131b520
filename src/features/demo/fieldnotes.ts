import { after, type DemoApplication, hoursAgo, on } from './demo-application.ts';

/**
 * Fieldnotes, a native application for notes. Its builds are signed for Sparkle, and a publisher froze one of its
 * rollouts.
 */

const PRIYA = 'priya@fieldnotes';
const SAM = 'sam@fieldnotes';

export const fieldnotes: DemoApplication = {
  name: 'notes',
  title: 'Fieldnotes',
  signatures: 'sparkle',
  files: [
    {
      name: 'Fieldnotes-{version}-arm64.dmg',
      platform: 'macos',
      arch: 'arm64',
      format: 'dmg',
      minimumOsVersion: '13.0',
    },
    {
      name: 'Fieldnotes-{version}-x64.dmg',
      platform: 'macos',
      arch: 'x64',
      format: 'dmg',
      minimumOsVersion: '13.0',
    },
    {
      name: 'Fieldnotes-{version}-arm64.zip',
      platform: 'macos',
      arch: 'arm64',
      format: 'zip',
      minimumOsVersion: '13.0',
    },
    {
      name: 'Fieldnotes-{version}-x64.zip',
      platform: 'macos',
      arch: 'x64',
      format: 'zip',
      minimumOsVersion: '13.0',
    },
    {
      name: 'FieldnotesSetup-{version}.exe',
      platform: 'windows',
      arch: 'x64',
      format: 'nsis',
      minimumOsVersion: '10.0.19041',
    },
  ],
  population: {
    stable: { macos: 2_350, windows: 980 },
    beta: { macos: 130, windows: 45 },
  },
  checksPerDay: 1.8,
  steps: [
    {
      at: on(114, '16:00'),
      by: PRIYA,
      do: 'publish',
      version: '2.1.0',
      channel: 'stable',
      notes: {
        en: '- Notes can be linked with `[[double brackets]]`\n- New: a graph of all links\n',
      },
    },
    {
      at: after(0.5),
      by: PRIYA,
      do: 'create channel',
      channel: 'beta',
      settings: { inherits: 'stable' },
    },
    {
      at: on(103, '16:30'),
      by: PRIYA,
      do: 'set key',
      reason: 'Builds are signed from 2.1.1 on.',
    },
    {
      at: after(43),
      by: PRIYA,
      do: 'publish',
      version: '2.1.1',
      channel: 'stable',
      notes: { en: '- Fixes links to notes whose names contain a colon\n' },
    },
    {
      at: on(81, '15:10'),
      by: SAM,
      do: 'publish',
      version: '2.2.0-beta.1',
      channel: 'beta',
      notes: { en: '- Handwriting on trackpads and tablets (beta)\n' },
    },
    {
      at: on(69, '10:00'),
      by: PRIYA,
      do: 'publish',
      version: '2.2.0',
      channel: 'stable',
      notes: {
        en: '## Handwriting\n\nDraw and write in any note. Fieldnotes recognises the text, so that search finds it.\n\n- Recognition works in English, German, Spanish and Japanese\n- Everything is recognised on your own computer\n',
        ja: '## 手書き\n\nどのノートにも手書きできます。文字は認識され、検索で見つかります。\n\n- 英語、ドイツ語、スペイン語、日本語に対応\n- 認識はすべてお使いのコンピュータ上で行われます\n',
      },
      rollout: { text: 'linear 5%@0h,100%@4d', freezeWindows: [] },
    },
    {
      at: on(46, '13:40'),
      by: SAM,
      do: 'publish',
      version: '2.2.1',
      channel: 'stable',
      notes: { en: '- Handwriting is smooth again on displays with 120 Hz\n' },
    },
    {
      at: on(25, '09:00'),
      by: PRIYA,
      do: 'publish',
      version: '2.3.0',
      channel: 'stable',
      notes: {
        en: '## Templates\n\nStart a note from a template: meeting, recipe, reading list, or your own.\n\n- Tags can have colours\n- Export as PDF keeps links\n',
        ja: '## テンプレート\n\n会議、レシピ、読書リストなどのテンプレートからノートを作成できます。\n\n- タグに色を付けられます\n- PDF 書き出しでリンクが保持されます\n',
      },
      rollout: { text: 'linear 5%@0h,100%@6d', freezeWindows: [] },
    },
    {
      at: on(11, '14:30'),
      by: SAM,
      do: 'publish',
      version: '2.4.0-beta.1',
      channel: 'beta',
      notes: { en: '- Notes sync through any WebDAV server (beta)\n' },
    },
    {
      at: hoursAgo(150),
      by: PRIYA,
      do: 'publish',
      version: '2.4.0',
      channel: 'stable',
      notes: {
        en: '## Sync with your own server\n\nNotes sync through any WebDAV server, end-to-end encrypted.\n\n- **Settings → Sync** shows what was synced and when\n- Conflicts keep both versions\n',
        ja: '## 自分のサーバーで同期\n\nWebDAV サーバーを通じて、エンドツーエンド暗号化でノートを同期します。\n',
      },
      rollout: { text: '5%@0h,25%@1d,60%@4d,100%@7d', freezeWindows: [] },
    },
    {
      at: hoursAgo(78),
      by: SAM,
      do: 'rollout',
      version: '2.4.0',
      channel: 'stable',
      action: { kind: 'freeze' },
      reason: 'Three reports of sync conflicts that repeat. Frozen until they are understood.',
    },
  ],
};
