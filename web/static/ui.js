// Preact with htm templates, and number formats.
import { h, render } from './vendor/preact.mjs';
import htm from './vendor/htm.mjs';
import { addressOf } from './source.js';

export { render };
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from './vendor/preact-hooks.mjs';
export const html = htm.bind(h);

const numbers = new Intl.NumberFormat('en');

/**
 * 12345.6 → "12,346", and a true minus sign.
 * @param {number} n
 */
export const count = (n) => numbers.format(Math.round(n)).replace('-', '−');

/**
 * A number with its noun, in English.
 * @param {number} n @param {string} one @param {string} [many]
 */
export const plural = (n, one, many = one + 's') => `${count(n)} ${n === 1 ? one : many}`;

/**
 * A day and a time, in the language of the page.
 * @param {number | string} time
 */
export const moment = (time) => new Date(time).toLocaleString(document.documentElement.lang,
  { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });

/**
 * Formats milliseconds.
 * @param {number} ms
 */
export const ms = (ms) => (ms < 10 ? ms.toFixed(1) : count(ms)) + ' ms';

/**
 * Joins the class names whose value is true.
 * @param {...(string|false|null|undefined)} names
 */
export const classes = (...names) => names.filter(Boolean).join(' ');

/** @type {Record<string, Promise<unknown>>} */
const sheets = {};

/**
 * A screen's stylesheet, loaded before anything of it is drawn, and once.
 * @param {string} path
 */
export const styled = (path) => {
  sheets[path] ??= new Promise((done) => {
    document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: addressOf(`/static/${path}`), onload: done, onerror: done }));
  });
  return sheets[path];
};
