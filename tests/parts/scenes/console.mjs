// Scenes on the console and the review page.

import { Person } from './person.mjs';

export const consolePage = {
};
