import { expect, it } from 'vitest';
import { renderDisposition } from '../../src/store/disposition.ts';

it.each([
  ['App-1.0.0.exe', 'attachment; filename=App-1.0.0.exe'],
  ['My App.exe', 'attachment; filename="My App.exe"'],
  // Some browsers decode a percent escape in a plain file name.
  ['My%20App.exe', `attachment; filename=My%20App.exe; filename*=UTF-8''My%2520App.exe`],
  ['Größe.exe', `attachment; filename=Gr__e.exe; filename*=UTF-8''Gr%C3%B6%C3%9Fe.exe`],
])('renders the header for %s', (filename, expected) => {
  expect(renderDisposition(filename)).toBe(expected);
});
