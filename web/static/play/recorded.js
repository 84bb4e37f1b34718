// Games without a lab: what real servers answered to the moves of a level was recorded
// (internal/game/record.go), and is answered here as the lab would.
import { request, refused } from '../source.js';

/**
 * What a move leads to: steps that happened, earlier ones as they are now, the moves that take
 * a turn then, and the next position, -1 if it was not recorded. Numbers are indexes of parts.
 * @typedef {{m: number, s?: number[], c?: number[], t?: number[], p: number}} Edge
 * @typedef {{b: number[], v: number[] | null, f?: number, e?: number, m?: Edge[]}} Position
 * @typedef {{level: string, recorded: string, servers: string[], turns: number, whole: boolean, parts: any[], positions: Position[]}} Recording
 * @typedef {{id: string, level: Json.Level, recording: Recording, path: string[], said: boolean}} Played
 */

/** @type {Record<string, Played>} */
const games = {};

const ended = () => refused(404, 'unknown_game', 'There is no such game.');
const moveNames = /[LTS]|[KDGQPICXRWVJ]?n?[a-h]/g;

/** @param {string} path @returns {Promise<any>} */
const fetched = async (path) => {
  const answer = await request(path, {});
  return answer.ok ? answer.json() : null;
};

/** @param {string} method @param {string} path below that of all games @param {string} body @returns {Promise<Response>} */
export async function answer(method, path, body) {
  const [, id = '', action = ''] = path.split('/');
  const asked = JSON.parse(body);
  if (!id) return begin(asked);
  const game = games[id];
  if (!game) return ended();
  switch (action || method) {
    case 'DELETE':
      delete games[id];
      return new Response(null, { status: 204 });
    case 'moves': return play(game, [...game.path, asked.move]);
    case 'undo': return play(game, game.path.slice(0, -asked.moves));
    case 'impossible': game.said = true;
  }
  return play(game, game.path);
}

/** @param {{level?: string, schedule?: string}} asked */
async function begin({ level: name, schedule = '' }) {
  const [recording, { levels }] = await Promise.all([fetched(`/recordings/${name}.json`), fetched('/api/lab/v1/levels')]);
  const level = /** @type {Json.Level[]} */ (levels).find((l) => l.name === name);
  if (!recording || !level) return refused(405, 'needs_lab', 'Only levels were recorded. For free play, start the lab: make demo');
  const id = `${name}-${Object.keys(games).length}-${Date.now()}`;
  const game = { id, level, recording, path: [], said: false };
  const answered = play(game, schedule.match(moveNames) ?? []);
  if (answered.ok) games[id] = game;
  return answered;
}

/**
 * The game after these moves.
 * @param {Played} game @param {string[]} path
 */
function play(game, path) {
  const { recording: { parts, positions } } = game;
  let at = positions[positions.length - 1];
  let takes = /** @type {number[]} */ ([]);
  let steps = /** @type {Json.GameStep[]} */ ([]);
  let switches = 0;
  for (const move of path) {
    const i = (at.m ?? []).findIndex((e) => parts[e.m].move === move);
    const edge = at.m?.[i];
    if (!edge) return refused(path === game.path ? 400 : 409, 'bad_schedule', `The move ${move} is not possible there.`);
    if (edge.p < 0) return refused(409, 'not_recorded', 'The recording ends before this move. Undo, or play on in a lab: make demo');
    if (takes.includes(i)) switches++;
    steps = [...changed(steps, (edge.c ?? []).map((n) => parts[n])), ...(edge.s ?? []).map((n) => parts[n])];
    takes = edge.t ?? [];
    at = positions[edge.p];
  }
  game.path = path;
  const moves = (at.m ?? []).map((e, i) => ({ ...parts[e.m], switches: takes.includes(i) }));
  return new Response(JSON.stringify(stateOf(game, at, { moves, steps, switches })), { status: 200 });
}

/**
 * The latest of the same commands is the one that has changed.
 * @param {Json.GameStep[]} steps @param {Json.GameStep[]} now
 */
function changed(steps, now) {
  const all = [...steps];
  for (const step of now) {
    const i = all.map((s) => ['who', 'renewer', 'fault', 'command'].every((key) => s[key] === step[key])).lastIndexOf(true);
    all[i] = step;
  }
  return all;
}

/**
 * As the lab answers (game.State in Go).
 * @param {Played} game @param {Position} at @param {{moves: Json.GameMove[], steps: Json.GameStep[], switches: number}} more
 */
function stateOf({ id, level, recording: { parts, recorded, servers, turns, whole }, path, said }, at, more) {
  const verdict = at.e === undefined ? null : parts[at.e];
  const won = Boolean(verdict?.problems.some((p) => level.breaks.includes(p.rule)));
  const { impossible, moves } = level.solution;
  const grade = said && !won ? { won: impossible > 0, said_impossible: true, searched: impossible }
    : verdict ? { won, best_moves: won ? moves : 0 } : null;
  return {
    id, level: level.name, setting: level.setting, schedule: path.join(''), buyers: at.b.map((n) => parts[n]), values: (at.v ?? []).map((n) => parts[n]),
    moves_made: path.length, faults_left: at.f ?? 0, over: Boolean(verdict), verdict, grade, recording: { recorded, servers: [...new Set(servers.map((s) => s.replace(/^\S+ /, '')))], turns, whole }, ...more,
  };
}
