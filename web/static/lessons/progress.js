// The reader's progress, kept in this browser.
import { recalled, remember, remembered } from '../preferences.js';

/** @returns {Set<string>} names of chapters read to the end */
export const chaptersRead = () => new Set(/** @type {string[]} */ ([recalled('lessons-read', [])].flat()));

/** @param {string} name */
export const finish = (name) => remember('lessons-read', JSON.stringify([...chaptersRead().add(name)]));

export const lastOpened = () => remembered('lessons-last');

/** @param {string} name */
export const opened = (name) => remember('lessons-last', name);
