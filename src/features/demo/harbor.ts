import { after, type DemoApplication, hoursAgo, on } from './demo-application.ts';
import { HARBOR_NOTES as NOTES } from './harbor-notes.ts';

/** Harbor, a mail client: an Electron application with a stepping stone, a yank and a rollout under way. */

const CI = 'release-bot@harbor-ci';
const MINA = 'mina@harbor';
const JONAS = 'jonas@harbor';
/** 4.0 migrates the mail database of 3.10. */
const REQUIRES = '>=3.10.0';
const WEEKEND = 'Fri 16:00..Mon 08:00 Europe/Berlin';

export const harbor: DemoApplication = {
  name: 'desktop',
  title: 'Harbor',
  signatures: 'none',
  files: [
    { name: 'Harbor-Setup-{version}.exe', platform: 'windows', arch: 'x64', format: 'nsis' },
    {
      ...{ name: 'Harbor-Setup-{version}-arm64.exe', platform: 'windows', arch: 'arm64' },
      format: 'nsis',
    },
    {
      ...{ name: 'Harbor-{version}-universal.dmg', platform: 'macos', arch: 'universal' },
      ...{ format: 'dmg', minimumOsVersion: '12.0' },
    },
    {
      ...{ name: 'Harbor-{version}-universal-mac.zip', platform: 'macos', arch: 'universal' },
      ...{ format: 'zip', minimumOsVersion: '12.0' },
    },
    {
      ...{ name: 'Harbor-{version}-x86_64.AppImage', platform: 'linux', arch: 'x64' },
      format: 'appimage',
    },
    { name: 'harbor_{version}_amd64.deb', platform: 'linux', arch: 'x64', format: 'deb' },
  ],
  population: {
    stable: { windows: 5_200, macos: 2_900, linux: 640 },
    beta: { windows: 210, macos: 160, linux: 70 },
  },
  checksPerDay: 2.6,
  steps: [
    {
      ...{ at: on(121, '09:40'), by: CI, do: 'publish', version: '3.8.0', channel: 'stable' },
      notes: NOTES['3.8.0'],
    },
    {
      ...{ at: after(0.4), by: MINA, do: 'create channel', channel: 'beta' },
      settings: { inherits: 'stable', givesEarlyAccess: true },
    },
    {
      ...{ at: on(109, '13:15'), by: CI, do: 'publish', version: '3.8.1', channel: 'stable' },
      notes: NOTES['3.8.1'],
    },
    {
      ...{ at: on(96, '08:20'), by: CI, do: 'publish', version: '3.9.0', channel: 'stable' },
      ...{ notes: NOTES['3.9.0'], rollout: { text: '10%@0h,50%@1d,100%@3d', freezeWindows: [] } },
    },
    {
      ...{ at: on(83, '14:30'), by: CI, do: 'publish', version: '3.9.1', channel: 'stable' },
      notes: NOTES['3.9.1'],
    },
    {
      ...{ at: after(16.7), by: JONAS, do: 'yank', version: '3.9.1' },
      reason: 'Drafts are lost when the connection drops while they are saved (HRB-2213).',
    },
    {
      ...{ at: after(4.6), by: CI, do: 'publish', version: '3.9.2', channel: 'stable' },
      ...{ notes: NOTES['3.9.2'], mandatoryFor: '3.9.1' },
    },
    {
      ...{ at: on(73, '10:00'), by: MINA, do: 'set channel', channel: 'stable' },
      settings: {
        expect: [
          { platform: 'windows', arch: 'x64' },
          { platform: 'windows', arch: 'arm64' },
          { platform: 'macos', arch: 'arm64' },
          { platform: 'macos', arch: 'x64' },
          { platform: 'linux', arch: 'x64' },
        ],
      },
      reason: 'A release waits until every build job has finished.',
    },
    {
      ...{ at: on(67, '09:30'), by: CI, do: 'publish', version: '3.10.0', channel: 'stable' },
      ...{ notes: NOTES['3.10.0'], rollout: { text: '20%@0h,100%@2d', freezeWindows: [WEEKEND] } },
    },
    {
      ...{ at: on(55, '14:05'), by: CI, do: 'publish', version: '4.0.0-beta.1', channel: 'beta' },
      ...{ notes: NOTES['4.0.0-beta.1'], requires: REQUIRES },
    },
    {
      ...{ at: on(48, '14:20'), by: CI, do: 'publish', version: '4.0.0-beta.2', channel: 'beta' },
      ...{ notes: NOTES['4.0.0-beta.2'], requires: REQUIRES },
    },
    {
      ...{ at: on(33, '09:15'), by: CI, do: 'publish', version: '4.0.0', channel: 'stable' },
      ...{ notes: NOTES['4.0.0'], requires: REQUIRES },
      rollout: { text: '5%@0h,20%@1d,50%@3d,100%@5d', freezeWindows: [WEEKEND] },
    },
    {
      ...{ at: after(51.5), by: MINA, do: 'notes', version: '4.0.0' },
      set: { fr: NOTES['4.0.0 fr'] },
      reason: 'The French translation was late.',
    },
    {
      ...{ at: on(20, '10:40'), by: CI, do: 'publish', version: '4.0.1', channel: 'stable' },
      ...{ notes: NOTES['4.0.1'], requires: REQUIRES },
      rollout: { text: '25%@0h,100%@1d', freezeWindows: [] },
    },
    {
      ...{ at: on(16, '13:50'), by: CI, do: 'publish', version: '4.1.0-beta.1', channel: 'beta' },
      ...{ notes: NOTES['4.1.0-beta.1'], requires: REQUIRES },
    },
    {
      ...{ at: on(9, '09:05'), by: CI, do: 'publish', version: '4.1.0', channel: 'beta' },
      ...{ notes: NOTES['4.1.0'], requires: REQUIRES },
    },
    {
      ...{ at: hoursAgo(100), by: JONAS, do: 'promote', version: '4.1.0', to: 'stable' },
      rollout: { text: '5%@0h,20%@1d,40%@3d,70%@6d,100%@9d', freezeWindows: [] },
    },
    {
      ...{ at: hoursAgo(62), by: CI, do: 'publish', version: '4.2.0-beta.1', channel: 'beta' },
      ...{ notes: NOTES['4.2.0-beta.1'], requires: REQUIRES },
    },
    {
      ...{ at: hoursAgo(21), by: JONAS, do: 'pause', version: '4.2.0-beta.1' },
      reason: 'Recurring events are doubled after the calendar syncs (HRB-2391).',
    },
    {
      ...{ at: hoursAgo(3), by: CI, do: 'publish', version: '4.1.1', channel: 'stable' },
      ...{ notes: NOTES['4.1.1'], requires: REQUIRES, platforms: ['windows', 'linux'] },
    },
  ],
};
