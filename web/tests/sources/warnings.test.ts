// The places that warnings of a run name, and the links to them.
import { expect, test } from 'vitest';
import { linksOf, placesIn } from '../../console/runs/warnings';

test.each([
  ['annex.pdf: nothing was taken from there: page 2, page 13.', [{ page: 2 }, { page: 13 }]],
  ['a.txt: nothing was taken from there: characters 70 to 128.', [{ start: 70, end: 128 }]],
  ['Interview: nothing was taken from there: 9:30 minutes from the start, 70:05 minutes from the start.', [{ ms: 570_000 }, { ms: 4_205_000 }]],
  ['a.vtt: nothing was taken from there: 9:30 minutes from the start (characters 70 to 128).', [{ start: 70, end: 128 }]],
  ['More was found than a run keeps: 2 sentences were left out.', []],
])('the places in %j', (message, places) => {
  expect(placesIn(message)).toEqual(places);
});

const run = { documentIds: ['d'], documentVersions: [2], meetingId: 'm' };
const links = (sourceId: string | null, message: string, recordingIds: string[] = []): string[] =>
  linksOf({ code: 'AddressesMachine', message, sourceId }, run, recordingIds).map(({ path, query }) => path.join('/') + query);
const AT = 'There: 9:30 minutes from the start.';

test('a warning of a document leads to its place, or to the document where the place is not known', () => {
  expect(links('d', 'There: characters 70 to 128.')).toEqual(['documents/d?start=70&end=128&version=2']);
  expect(links('d', 'There: page 2, page 3.')).toEqual(['documents/d?page=2&version=2', 'documents/d?page=3&version=2']);
  expect(links('d', AT)).toEqual(['documents/d']);
});

test('a warning of what was said leads to the second of the recording; where there are several, to the meeting', () => {
  expect(links('m', AT, ['r'])).toEqual(['meetings/m/recordings/r?at=570000']);
  expect(links('m', AT, ['r', 's'])).toEqual(['meetings/m']);
  expect(links('m', AT)).toEqual(['meetings/m']);
  expect(links('r', 'There is no transcript of this recording.')).toEqual(['meetings/m/recordings/r']);
});

test('a warning without a source leads nowhere', () => {
  expect(links(null, AT)).toEqual([]);
});
