// A buyer's place among the rivals.

/**
 * What place a buyer who pressed at a time had among all who asked, about; null if
 * that is not known.
 * @param {Json.Result | undefined} all @param {number} [at] by the lab's clock, in ms
 */
export function placeOf(all, at) {
  const came = Date.parse(all?.start ?? '');
  if (!all?.course?.length || !at || !(at >= came)) return null;
  const seconds = (at - came) / 1000;
  let before = { at: 0, requests: 0 };
  for (const point of all.course) {
    if (point.at >= seconds) {
      const part = (seconds - before.at) / Math.max(point.at - before.at, 1e-9);
      return Math.round(before.requests + part * (point.requests - before.requests)) + 1;
    }
    before = point;
  }
  return all.requests + 1;
}
