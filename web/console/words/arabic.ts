// The Arabic words of the console: one file an area, as in english.ts; loaded when they are wanted.
import items from '$shared/words/items.ar.json';
import baselines from './baselines.ar.json';
import conflicts from './conflicts.ar.json';
import recordings from '$shared/words/recordings.ar.json';
import documents from './documents.ar.json';
import exports from './exports.ar.json';
import feedback from './feedback.ar.json';
import fields from './fields.ar.json';
import frame from './frame.ar.json';
import history from './history.ar.json';
import home from './home.ar.json';
import meetings from './meetings.ar.json';
import operator from './operator.ar.json';
import people from './people.ar.json';
import profile from './profile.ar.json';
import proposals from './proposals.ar.json';
import projects from './projects.ar.json';
import results from './results.ar.json';
import runs from './runs.ar.json';
import settings from './settings.ar.json';
import trace from './trace.ar.json';
import tracker from './tracker.ar.json';

export default {
  ...items, ...recordings, ...frame, ...projects, ...home, ...documents, ...meetings, ...runs, ...results, ...fields, ...proposals, ...conflicts, ...trace, ...baselines, ...history, ...feedback, ...exports, ...tracker, ...people, ...settings, ...profile, ...operator,
};
