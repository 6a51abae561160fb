// The English words of the console: one file an area, each key begins with the name of what it is about.
import items from '$shared/words/items.en.json';
import baselines from './baselines.en.json';
import conflicts from './conflicts.en.json';
import recordings from '$shared/words/recordings.en.json';
import documents from './documents.en.json';
import exports from './exports.en.json';
import feedback from './feedback.en.json';
import fields from './fields.en.json';
import frame from './frame.en.json';
import history from './history.en.json';
import home from './home.en.json';
import meetings from './meetings.en.json';
import operator from './operator.en.json';
import people from './people.en.json';
import profile from './profile.en.json';
import proposals from './proposals.en.json';
import projects from './projects.en.json';
import results from './results.en.json';
import runs from './runs.en.json';
import settings from './settings.en.json';
import trace from './trace.en.json';
import tracker from './tracker.en.json';

export default {
  ...items, ...recordings, ...frame, ...projects, ...home, ...documents, ...meetings, ...runs, ...results, ...fields, ...proposals, ...conflicts, ...trace, ...baselines, ...history, ...feedback, ...exports, ...tracker, ...people, ...settings, ...profile, ...operator,
};
