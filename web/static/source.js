// Where the page's data come from: the lab that serves the page, or the files of a site
// that `seckill site` wrote. Other modules ask isSite only to say that a lab is needed.

const mark = /** @type {HTMLMetaElement | null} */ (document.querySelector('meta[name=seckill-site]'));

/** The page belongs to a site: no lab is behind it. */
export const isSite = Boolean(mark);

/** The path of the lab's or the site's first page, with a slash at its end. */
export const home = mark ? new URL(mark.content, location.href).pathname : '/';

/** The place that a page of a site shows by itself, such as trace/redis-lua.late-command; '': its start. */
export const place = mark?.dataset.place ?? '';

/**
 * The address of a file of the page.
 * @param {string} path from the root
 */
export const addressOf = (path) => home + path.slice(1);

const packed = /^\/api\/|\.json$/; // a site has these compressed
const needsLab = /** @type {const} */ ([405, 'needs_lab', 'This needs the lab with its servers: make demo starts it.']);
const games = '/api/lab/v1/games';

/**
 * Does what fetch does. A site answers calls from its files: what the lab would say is in
 * one, or was recorded, or needs a lab.
 * @param {string} path @param {RequestInit} init @returns {Promise<Response>}
 */
export async function request(path, init) {
  if (!isSite) return fetch(path, init);
  if (path.startsWith(games)) return (await import('./play/recorded.js')).answer(init.method ?? 'GET', path.slice(games.length), String(init.body ?? '{}'));
  if (init.method && init.method !== 'GET') return refused(...needsLab);
  if (!packed.test(path)) return fetch(addressOf(path), init);
  const answer = await fetch(`${addressOf(path).replace(/\.json$/, '')}.json.gz`, init);
  if (!answer.ok) return path.startsWith('/api/') ? refused(...needsLab) : answer;
  return new Response(unpack(await answer.arrayBuffer()));
}

/**
 * A refusal as the lab writes it.
 * @param {number} status @param {string} code @param {string} [detail]
 */
export const refused = (status, code, detail = '') => new Response(JSON.stringify({ status, code, detail }), { status });

/**
 * Some servers announce a .gz file as compressed, so that the browser has unpacked it already.
 * @param {ArrayBuffer} bytes
 */
function unpack(bytes) {
  const [first, second] = new Uint8Array(bytes);
  const isPacked = first === 0x1f && second === 0x8b;
  return isPacked ? new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')) : bytes;
}
