import { afterEach, expect, test } from 'vitest';
import { followLink, goTo, pathOf, query, route, routeOf, setQuery } from '../console/route.svelte';

afterEach(() => goTo('/'));

test('a path names a page, and what it names leads back to it', () => {
  expect(routeOf('/')).toEqual({ page: 'projects' });
  expect(routeOf('/projects/p')).toEqual({ page: 'project', projectId: 'p', view: 'home', rest: [] });
  expect(routeOf(pathOf('p', 'requirements', 'a b/c'))).toEqual({ page: 'project', projectId: 'p', view: 'requirements', rest: ['a b/c'] });
  expect(pathOf('p')).toBe('/projects/p');
  expect(routeOf('/invitations/project')).toEqual({ page: 'invitation' });
  expect(routeOf('/review')).toEqual({ page: 'unknown' });
  expect(routeOf('/projects')).toEqual({ page: 'unknown' });
});

test('the query changes without a step in the history, and empty values go', () => {
  goTo('/projects/p?status=OPEN');
  const steps = history.length;
  setQuery({ search: 'login', status: null });
  expect([location.search, query().get('search'), history.length]).toEqual(['?search=login', 'login', steps]);
});

test('a plain click on a link of the console stays in the page; any other is the browser’s', () => {
  document.body.innerHTML = '<a href="/projects/q"><b>Q</b></a><a id="out" href="/meetings/m/join">M</a>';
  document.addEventListener('click', followLink);
  const click = (selector: string, more: MouseEventInit = {}): boolean =>
    !document.querySelector(selector)?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, ...more }));
  expect(click('b', { ctrlKey: true })).toBe(false);
  expect(click('#out')).toBe(false);
  expect(click('b')).toBe(true);
  expect(route()).toMatchObject({ page: 'project', projectId: 'q' });
  document.removeEventListener('click', followLink);
});
