// What the teacher's pack is made of: the chapters and the game's levels.
import { call } from '../api.js';
import { once, useLoaded } from '../loaded.js';
import { preferences } from '../preferences.js';

/** @type {() => Promise<Json.Chapter[]>} */
export const loadChapters = once(() => call('GET', '/api/lab/v1/course').then((c) => c.chapters));

/** @type {() => Promise<Json.Level[]>} */
export const loadLevels = once(() => call('GET', '/api/lab/v1/levels').then((l) => l.levels ?? []));

/** A chapter can be read and taught without them. */
const levelsOrNone = () => loadLevels().catch(() => []);

/** Hook: chapters and levels. */
export const usePack = () => useLoaded(() => Promise.all([loadChapters(), levelsOrNone()]), []);

/** Hook: the levels. */
export const useLevels = () => useLoaded(levelsOrNone, []);

/** @param {Json.Chapter} c */
export const titleOf = (c) => c.title[preferences().language] ?? c.title.en;

/** @param {Json.Level[]} levels @param {Json.Chapter[]} chapters @param {Json.Chapter} chapter */
export const levelsOf = (levels, chapters, chapter) => levels.filter((l) => l.chapter === chapters.indexOf(chapter) + 1);
